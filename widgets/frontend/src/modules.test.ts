import { readdirSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import worker from "./layout_asset";
import tokens from "./style/tokens.css";

test("a worker is the text of one script, with all that it imports", () => {
  expect(worker).toContain("onmessage");
  expect(worker).not.toMatch(/^\s*import\s/m);
});

test("a style sheet is text", () => {
  expect(tokens).toContain("--tx-bg");
});

test("what is under the panes knows no pane, and graph and compare know nothing of each other", () => {
  const may: { [folder: string]: string[] } = {
    forest: [],
    compare: [],
    decorations: ["forest"],
    graph: ["forest", "decorations"],
  };
  const folders = readdirSync("src", { withFileTypes: true }).filter((each) => each.isDirectory());
  const files = Object.keys(may).flatMap((folder) =>
    readdirSync(`src/${folder}`).map((file) => `${folder}/${file}`),
  );
  const wrong = files.flatMap((file) => {
    if (file.includes(".test.")) return []; // a test may put together what the shell does
    const own = file.split("/")[0] as string;
    const text = readFileSync(`src/${file}`, "utf8");
    const imported = [...text.matchAll(/from "\.\.\/(\w+)\//g)].map((found) => found[1] as string);
    const known = imported.filter((each) => folders.some(({ name }) => name === each));
    return known
      .filter((each) => !may[own]?.includes(each))
      .map((each) => `${file} imports ${each}`);
  });
  expect(files.length).toBeGreaterThan(40);
  expect(wrong).toEqual([]);
});

test("a pane is in a folder of its topic, and no topic imports another in a circle", () => {
  const topics = readdirSync("src/panes", { withFileTypes: true }).filter((each) =>
    each.isDirectory(),
  );
  const loose = readdirSync("src/panes").filter((file) => /^\w+\.tsx?$/.test(file));
  expect(loose).toEqual([]);
  const imports = new Map(
    topics.map(({ name }) => {
      const files = readdirSync(`src/panes/${name}`).filter((file) => !file.includes(".test."));
      const texts = files.map((file) => readFileSync(`src/panes/${name}/${file}`, "utf8"));
      const found = texts.flatMap((text) => [...text.matchAll(/from "\.\.\/(\w+)\//g)]);
      return [name, new Set(found.map((each) => each[1] as string))] as const;
    }),
  );
  const reached = (from: string, seen = new Set<string>()): Set<string> => {
    for (const next of imports.get(from) ?? []) {
      if (seen.has(next)) continue;
      seen.add(next);
      reached(next, seen);
    }
    return seen;
  };
  expect(imports.size).toBeGreaterThan(8);
  expect([...imports.keys()].filter((topic) => reached(topic).has(topic))).toEqual([]);
});
