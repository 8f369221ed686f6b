import { expect, test } from "vitest";
import { Program } from "../program";
import { type Place, RecordBuilder } from "../testing/records";
import { cutLarge } from "./chunks";
import { buildForest } from "./forest";
import type { Forest, Item } from "./items";

const PLAIN = { housekeeping: false, parameters: false };

/** A chain of ops without modules; `placeOf` says through which lines each came. */
function flat(count: number, placeOf: (at: number) => Place[]): Program {
  const build = new RecordBuilder();
  build.file("cell");
  let value = build.input("x", ["batch"]);
  for (let at = 0; at < count; at++) value = build.call("sin", [value], { stack: placeOf(at) });
  build.output([value]);
  return new Program(build.record());
}

const cutOf = (program: Program): Forest => {
  const forest = buildForest(program, PLAIN);
  cutLarge(program, forest);
  return forest;
};

function groups(item: Item): Item[] {
  return item.children.length > 0 ? [item, ...item.children.flatMap(groups)] : [];
}

const leaves = (item: Item): number[] =>
  item.children.length > 0 ? item.children.flatMap(leaves) : [item.node];

test("a flat group of thousands is cut until every group can be laid out, and nothing is lost", () => {
  const program = flat(3000, (at) => [[0, 1 + (at % 1500), "forward"]]);
  const before = leaves(buildForest(program, PLAIN).root);
  const { root, items } = cutOf(program);
  expect(leaves(root)).toEqual(before);
  for (const each of groups(root)) {
    expect(each.children.length).toBeLessThanOrEqual(150);
    expect(each.children.every((child) => child.parent === each)).toBe(true);
    if (each !== root) expect(items[each.at]).toBe(each);
  }
  expect(new Set(groups(root).map(({ key }) => key)).size).toBe(groups(root).length);
});

test("a chunk ends where the code goes on elsewhere, and is called by its function and lines", () => {
  const place = (at: number): Place[] => [
    [0, at < 40 ? 10 : 11, "forward"],
    [0, 100 + at, at < 40 ? "rotate" : "attend"],
  ];
  const { root } = cutOf(flat(200, place));
  const chunks = root.children.filter(({ kind }) => kind === "chunk");
  expect(chunks[0]?.title).toBe("rotate · lines 100–139");
  expect(chunks[1]?.title).toContain("attend · lines 140–");
  expect(chunks.map(({ ops }) => ops).reduce((sum, ops) => sum + ops, 0)).toBe(200);
  expect([root.children[0]?.kind, root.children.at(-1)?.kind]).toEqual(["input", "output"]);
});

test("what has no lines is called by how many steps it has", () => {
  const { root } = cutOf(flat(200, () => []));
  expect(root.children[1]?.title).toBe("48 steps");
});

test("a group that can be read is left as it is", () => {
  const program = flat(120, () => [[0, 1, "forward"]]);
  expect(cutOf(program).root.children).toHaveLength(122);
});
