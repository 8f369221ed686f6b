import { expect, test } from "vitest";
import { repeatsFrom } from "../../forest/items";
import { forestOf as sharedForest } from "../../forest/program_forest";
import type { Program } from "../../program";
import { search } from "../../search";
import { branchingProgram, layeredProgram } from "../../testing/models";
import { rowsInView } from "../parts/virtual";
import { foundRows, itemsFound, openTo, outlineRows, placeOf, type Row } from "./outline_rows";

const forestOf = (program: Program) =>
  sharedForest(program, { housekeeping: false, parameters: false });
const titles = (rows: Row[]): string[] =>
  rows.map(({ item, depth }) => "  ".repeat(depth) + item.title);

test("closed modules are one row each", () => {
  const forest = forestOf(layeredProgram(2));
  expect(titles(outlineRows(forest, new Set()))).toEqual([
    "x",
    "ones",
    "embed",
    "encoder",
    "output",
  ]);
});

test("opening the way to an op shows it, and all beside it", () => {
  const program = layeredProgram(2);
  const forest = forestOf(program);
  const add = [...program.allNodes()].find((id) => program.name(id) === "add_1") ?? -1;
  const item = forest.itemOf.get(add);
  const rows = outlineRows(forest, item ? openTo(item, new Set()) : new Set());
  expect(titles(rows)).toContain("      add");
  expect(titles(rows)).toContain("  layer.0");
});

test("branches are rows inside the op that runs them", () => {
  const forest = forestOf(branchingProgram());
  const keys = forest.items.map(({ key }) => key);
  const rows = outlineRows(forest, new Set(keys));
  expect(titles(rows)).toEqual(expect.arrayContaining(["  true_fn", "    mul", "  false_fn"]));
});

test("results stand alone with their place; a found module can be opened", () => {
  const program = layeredProgram(3);
  const forest = forestOf(program);
  const found = itemsFound(forest, search(program, "layer.1"));
  const [first] = foundRows(found, new Set());
  expect(first && placeOf(first.item)).toBe("encoder");
  const opened = foundRows(found, new Set([first?.item.key ?? ""]));
  expect(titles(opened)).toEqual(["layer.1", "  attention", "  linear"]);
});

test("a run of alike modules is counted at its first", () => {
  const forest = forestOf(layeredProgram(5, 4));
  const rows = outlineRows(forest, new Set(forest.openable.keys()));
  const found = rows.map(({ item }) => [item.title, repeatsFrom(item)]);
  expect(found.filter(([, count]) => count !== 1)).toEqual([["layer.0", 4]]);
  expect(rows.map(({ item }) => item.kind)).not.toContain("repeat");
});

test("of a long list, only what is in view and a little more is in the page", () => {
  const { first, last } = rowsInView(22_000, 440, 22, 5000);
  expect(first).toBeLessThanOrEqual(1000);
  expect(last).toBeGreaterThanOrEqual(1020);
  expect(last - first).toBeLessThan(60);
});
