import { readdirSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";

const FOLDER = "src/style";
const sheets = readdirSync(FOLDER)
  .filter((name) => name.endsWith(".css") && name !== "tokens.css")
  .map((name) => [name, readFileSync(`${FOLDER}/${name}`, "utf8")] as const);
const declarations = sheets.flatMap(([path, text]) =>
  [...text.replace(/\/\*.*?\*\//gs, "").matchAll(/([\w-]+):\s*([^;{}]+);/g)].map(
    ([, property = "", value = ""]) => ({ path, property, value }),
  ),
);
/** Those that are set by a literal which only the tokens may hold. */
const literal = (property: RegExp, value: RegExp): string[] =>
  declarations
    .filter((each) => property.test(each.property) && value.test(each.value))
    .map(({ path, property: name, value: set }) => `${path}: ${name}: ${set}`);

/** The code outside of tests. */
const code = (readdirSync("src", { recursive: true }) as string[])
  .filter((name) => /\.tsx?$/.test(name) && !/\.test\.tsx?$|^testing/.test(name))
  .map((name) => readFileSync(`src/${name}`, "utf8"))
  .join("\n");

test("every class of a sheet is set by the code, and every token exists", () => {
  const all = readdirSync(FOLDER).filter((name) => name.endsWith(".css"));
  const text = all.map((name) => readFileSync(`${FOLDER}/${name}`, "utf8")).join("\n");
  const selectors = text.replace(/\/\*.*?\*\//gs, "").replace(/\{[^{}]*\}/g, "");
  const classes = new Set(selectors.match(/(?<=\.)tx-[\w-]+/g));
  expect(classes.size).toBeGreaterThan(300);
  const words = new Set(code.match(/[a-z][\w-]*/g));
  const stems = [...code.matchAll(/(tx-[\w-]+-)\$\{/g)].map(([, stem = ""]) => stem);
  // `tx-guarantee-${verdict}`, where a verdict is "not checked"
  const isValue = (end: string): boolean =>
    words.has(end) || code.includes(`"${end.replaceAll("-", " ")}"`);
  const isSet = (name: string): boolean =>
    words.has(name) ||
    stems.some((stem) => name.startsWith(stem) && isValue(name.slice(stem.length)));
  expect([...classes].filter((name) => !isSet(name))).toEqual([]);
  const tokens = new Set(text.match(/--tx-[\w-]+(?=:)/g));
  const used = new Set(text.match(/(?<=var\()--tx-[\w-]+/g));
  const missing = [...used].filter((name) => !tokens.has(name) && !code.includes(name));
  expect(missing).toEqual([]);
});

test("there are sheets to look at", () => {
  expect(declarations.length).toBeGreaterThan(500);
});

test("every colour is a token", () => {
  expect(literal(/./, /#[\da-f]{3,8}\b|\b(rgb|hsl)a?\(|light-dark\(|color-mix\(/i)).toEqual([]);
});

test("every size of text and every corner is a token", () => {
  expect(literal(/^font(-size)?$/, /\d(px|pt|rem|em|%)/)).toEqual([]);
  expect(literal(/^border-radius$/, /[1-9]\d*(px|em|%)/)).toEqual([]);
});

test("every space is a token; borders of one pixel may be drawn over each other", () => {
  const spaces = /^(padding|margin|gap|row-gap|column-gap)(-|$)/;
  const known = /^(-1px|var\(--jp-notebook-padding, 8px\))$/;
  const found = literal(spaces, /[1-9]\d*px/).filter(
    (each) => !known.test(each.split(": ")[2] ?? ""),
  );
  expect(found).toEqual([]);
});
