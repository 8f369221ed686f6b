import { describe, expect, test } from "vitest";
import { entriesOf } from "./compare/entries";
import { merge } from "./compare/merged";
import { surroundings } from "./forest/differing";
import type { Item } from "./forest/items";
import { drawingOfBoth } from "./graph/drawing";
import { writerOf } from "./graph/writer";
import { Program } from "./program";
import type { GraphDiff, ProgramDiff } from "./record.gen";
import { RecordBuilder } from "./testing/records";
import { AFTER, BEFORE, BOTH } from "./two_programs";

const PLAIN = { housekeeping: false, parameters: false };

/** `x → first → last → output`, or without `last`. */
function chain(...ops: string[]): Program {
  const build = new RecordBuilder("net(x)");
  let last = build.input("x", ["batch", 4]);
  for (const op of ops) last = build.call(op, [last]);
  build.output([last]);
  return new Program(build.record());
}

const diffOf = (...graphs: Partial<GraphDiff>[]): ProgramDiff => ({
  before: "a",
  after: "b",
  symbols: [],
  others: [],
  renamed: [],
  modules: [],
  identical: false,
  weights: "",
  graphs: graphs.map((graph) => ({
    before: 0,
    after: 0,
    title: "main",
    pairs: [],
    removed: [],
    added: [],
    became: [],
    ...graph,
  })),
});

const pair = (before: number, after: number) => ({
  before,
  after,
  why: "structure" as const,
  changes: [],
});

/** x, relu, sin, output beside x, relu, cos, output: sin is gone, cos is new. */
const [BEFORE_SIN, AFTER_COS] = [chain("relu", "sin"), chain("relu", "cos")];
const SWAPPED = diffOf({
  pairs: [pair(0, 0), pair(1, 1), pair(3, 3)],
  removed: [2],
  added: [2],
});

const FEWER = diffOf({ pairs: [pair(0, 0), pair(1, 1), pair(2, 3)], added: [2] });

describe("two programs as one", () => {
  const both = merge(BEFORE_SIN, AFTER_COS, SWAPPED);

  test("keep the numbers of the program on screen, and what is gone comes behind", () => {
    expect(both.program.name(2)).toBe("cos");
    expect(both.program.name(4)).toBe("sin");
    expect(both.program.type(4)?.text).toBe("f32[batch, 4]");
    expect([...both.kinds]).toEqual([
      [2, "added"],
      [4, "removed"],
    ]);
    expect(both.removed.get(4)).toBe(2);
    expect(both.merged.get(2)).toBe(4);
  });

  test("have the edges of both, and say whose they are", () => {
    expect(both.program.inputsOf(4)).toEqual([1]);
    expect(both.program.inputsOf(3)).toEqual([2, 4]);
    expect(both.sidesOf(0, 1)).toBe(BOTH);
    expect(both.sidesOf(1, 4)).toBe(BEFORE);
    expect(both.sidesOf(2, 3)).toBe(AFTER);
  });

  test("are one drawing, in which each item says where it is", () => {
    const { forest, links, marked, ops } = drawingOfBoth(both, PLAIN);
    const kinds = new Map([...(marked?.kinds ?? [])].map(([item, kind]) => [item.title, kind]));
    expect([...kinds]).toEqual([
      ["cos", "added"],
      ["sin", "removed"],
    ]);
    expect(marked?.inside.get(forest.root)).toBe(2);
    expect(marked?.ops.get(forest.root)).toEqual({ before: 2, after: 2 });
    expect(ops(forest.root)).toBe("2 ops");
    const more = drawingOfBoth(merge(chain("relu"), AFTER_COS, FEWER), PLAIN);
    expect(more.ops(more.forest.root)).toBe("1 → 2 ops");
    const sides = links
      .inside(forest.root)
      .map(({ from, to, sides }) => `${from.title} ${to.title} ${sides}`);
    expect(sides).toContain("relu sin 1");
    expect(sides).toContain("cos output 2");
    expect(sides).toContain("x relu 3");
  });

  test("can be shown without what is the same on both sides", () => {
    const deep = merge(
      chain("relu", "abs", "neg", "sin"),
      chain("relu", "abs", "neg", "cos"),
      diffOf({
        pairs: [0, 1, 2, 3, 5].map((node) => pair(node, node)),
        removed: [4],
        added: [4],
      }),
    );
    const drawing = drawingOfBoth(deep, { ...PLAIN, only: surroundings(deep) });
    const titles = drawing.forest.root.children.map((item) => item.title).sort();
    expect(titles).toEqual(["cos", "neg", "output", "sin"]);
  });
});

test("a layer that differs stands for itself among its likes", () => {
  const layers = (odd: boolean): Program => {
    const build = new RecordBuilder("net(x)");
    let last = build.input("x", [4]);
    for (let layer = 0; layer < 6; layer++) {
      const scope = build.scope(`layers.${layer}`, "Layer");
      last = build.call("relu", [last], { scope });
      last = build.call(odd && layer === 2 ? "cos" : "sin", [last], { scope });
    }
    build.output([last]);
    return new Program(build.record());
  };
  const pairs = Array.from({ length: 14 }, (_, node) => pair(node, node));
  const change = { what: "op" as const, before: "sin", after: "cos", follows: false };
  pairs[6] = { ...pair(6, 6), changes: [change] } as (typeof pairs)[number];
  const drawing = drawingOfBoth(merge(layers(false), layers(true), diffOf({ pairs })), PLAIN);
  const kinds = drawing.forest.root.children.map((item: Item) => item.kind);
  expect(kinds).toEqual(["input", "scope", "scope", "scope", "repeat", "output"]);
  expect(drawing.notes(drawing.forest.root.children[3] as Item)).toEqual(["1 node differs"]);
});

test("each side names its own ops and modules", () => {
  const net = (name: string, op: string) => {
    const build = new RecordBuilder("net(x)");
    const scope = build.scope(name, "Layer");
    let last = build.call("relu", [build.input("x", [4])]);
    for (const each of [op, "exp"]) last = build.call(each, [last], { scope });
    build.output([last]);
    return new Program(build.record());
  };
  const pairs = Array.from({ length: 5 }, (_, node) => pair(node, node));
  const change = { what: "op" as const, before: "sin", after: "cos", follows: false };
  pairs[2] = { ...pair(2, 2), changes: [change] } as (typeof pairs)[number];
  const drawing = drawingOfBoth(
    merge(net("old", "sin"), net("new", "cos"), diffOf({ pairs })),
    PLAIN,
  );
  const writer = writerOf(drawing, () => 10);
  const cos = drawing.forest.itemOf.get(2) as Item;
  const module = cos.parent as Item;
  expect([module, cos].map((each) => writer.box(each).title)).toEqual(["new", "cos"]);
  expect([module, cos].map((each) => writer.boxOn("before", each)?.title)).toEqual(["old", "sin"]);
});

test("side by side, each side counts its own ops, differences and values", () => {
  const net = (...ops: string[]) => {
    const build = new RecordBuilder("net(x)");
    const scope = build.scope("layer", "Layer");
    const values = ops.map((op) => build.call(op, [build.input("x", [4])], { scope }));
    build.output(values);
    return new Program(build.record());
  };
  const before = net("relu");
  const after = net("relu", "cos", "exp");
  const shared = [pair(0, 0), pair(1, 1), pair(2, 6)];
  const drawing = drawingOfBoth(
    merge(before, after, diffOf({ pairs: shared, added: [2, 3, 4, 5] })),
    PLAIN,
  );
  const writer = writerOf(drawing, () => 10);
  const layer = drawing.forest.itemOf.get(1)?.parent as Item;
  const output = drawing.forest.itemOf.get(6) as Item;
  const text = (words: ReturnType<typeof writer.boxOn>) =>
    words?.lines.map(({ pieces }) => pieces.map((piece) => piece.text).join(""));
  expect(text(writer.boxOn("before", layer))).toEqual(["Layer · 1 op"]);
  expect(text(writer.boxOn("after", layer))).toEqual(["Layer · 3 ops", "2 nodes differ"]);
  expect(text(writer.boxOn("before", output))).toEqual([]);
  expect(text(writer.boxOn("after", output))).toEqual(["3 values"]);
});

test("a module that only one side groups is not named for what it is in there", () => {
  const net = (scoped: boolean, size: number) => {
    const build = new RecordBuilder("net(x)");
    const scope = scoped ? build.scope("norm", "LayerNorm") : -1;
    let last = build.call("relu", [build.input("x", [size])]);
    for (const op of ["sin", "exp"]) last = build.call(op, [last], scoped ? { scope } : {});
    build.output([last]);
    return new Program(build.record());
  };
  const pairs = Array.from({ length: 5 }, (_, node) => pair(node, node));
  const drawing = drawingOfBoth(merge(net(false, 8), net(true, 4), diffOf({ pairs })), PLAIN);
  const writer = writerOf(drawing, () => 10);
  const norm = drawing.forest.itemOf.get(2)?.parent as Item;
  expect(writer.box(norm).title).toBe("norm");
  expect(writer.boxOn("before", norm)?.title).toBe("norm");
  const [edge] = drawing.links.inside(drawing.forest.root);
  const said = [edge && writer.edge(edge), edge && writer.edgeOn("before", edge)];
  expect(said.map((line) => line?.pieces.map(({ text }) => text).join(""))).toEqual(["4", "8"]);
});

test("a graph that only the program before runs is there, and gone", () => {
  const build = new RecordBuilder("net(x)");
  const x = build.input("x", [4]);
  const cond = build.call("cond", [x]);
  build.branch(cond, "true_fn", (graph) => {
    const inner = graph.placeholder("arg", [4]);
    graph.output([graph.call("sin", [inner])]);
  });
  build.output([cond]);
  const both = merge(
    new Program(build.record()),
    chain("relu"),
    diffOf({ pairs: [pair(0, 0), pair(2, 2)], removed: [1], added: [1] }),
  );
  expect(both.program.branchesOf(3).map((branch) => branch.argument)).toEqual(["true_fn"]);
  expect(both.program.name(both.program.branchesOf(3)[0]?.nodes[1] ?? -1)).toBe("sin");
  expect([...both.kinds.values()].filter((kind) => kind === "removed")).toHaveLength(4);
});

test("entries come in the order of the program, what is gone behind what it stood behind", () => {
  const entries = entriesOf(
    diffOf({ pairs: [pair(0, 0), pair(2, 1), pair(5, 4)], removed: [1, 3, 4], added: [2, 3] }),
    {
      before: chain("relu", "sin", "cos", "exp"),
      after: chain("relu", "abs", "neg"),
    },
  );
  expect(entries.map(({ kind, before, after }) => [kind, before ?? after])).toEqual([
    ["removed", 1],
    ["removed", 3],
    ["removed", 4],
    ["added", 2],
    ["added", 3],
  ]);
});
