import { readdirSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import worker from "./graph/layout.worker?worker";
import tokens from "./style/tokens.css";

test("a worker is the text of one script, with all that it imports", () => {
  expect(worker).toContain("onmessage");
  expect(worker).not.toMatch(/^\s*import\s/m);
});

test("a style sheet is text", () => {
  expect(tokens).toContain("--tx-bg");
});

test("folders of what is under the panes import one another one way", () => {
  const may: { [folder: string]: string[] } = {
    forest: [],
    compare: ["forest"],
    graph: ["forest", "compare"],
  };
  const files = Object.keys(may).flatMap((folder) =>
    readdirSync(`src/${folder}`).map((file) => `${folder}/${file}`),
  );
  const wrong = files.flatMap((file) => {
    const own = file.split("/")[0] as string;
    const text = readFileSync(`src/${file}`, "utf8");
    const imported = [...text.matchAll(/from "\.\.\/(\w+)\//g)].map((found) => found[1] as string);
    const known = imported.filter((each) => each in may && !may[own]?.includes(each));
    return known.map((each) => `${file} imports ${each}`);
  });
  expect(files.length).toBeGreaterThan(40);
  expect(wrong).toEqual([]);
});
