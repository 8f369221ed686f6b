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
