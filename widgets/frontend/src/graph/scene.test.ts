import { Graphviz } from "@hpcc-js/wasm-graphviz";
import { beforeAll, describe, expect, test } from "vitest";
import { Program } from "../program";
import { branchingProgram, layeredProgram, smallProgram } from "../testing/models";
import { RecordBuilder } from "../testing/records";
import { drawingOf, firstOpen } from "./drawing";
import { Placer } from "./graphviz_layout";
import type { LayoutBox } from "./layout_types";
import { boxesAt, type Scene, type SceneBox, settle } from "./scene";
import { layoutBox, sketch } from "./sketch";

const PLAIN = { housekeeping: false, parameters: false };
const measure = (text: string): number => text.length * 6;

let dot: (source: string) => string;
beforeAll(async () => {
  const graphviz = await Graphviz.load();
  dot = (source) => graphviz.layout(source, "json", "dot");
});

/** Everything open, laid out by Graphviz. */
function expanded(program: Program, placer = new Placer(dot)): Scene {
  const drawing = drawingOf(program, PLAIN);
  const boxes = sketch(drawing, new Set(drawing.forest.openable.keys()), measure);
  return settle(boxes, placer.place(layoutBox(boxes)));
}

function* below(box: SceneBox): Generator<SceneBox> {
  for (const child of box.children) {
    yield child;
    yield* below(child);
  }
}

const isInside = (inner: SceneBox, outer: SceneBox): boolean =>
  inner.x >= outer.x &&
  inner.y >= outer.y &&
  inner.x + inner.width <= outer.x + outer.width &&
  inner.y + inner.height <= outer.y + outer.height;

const overlap = (a: SceneBox, b: SceneBox): boolean =>
  a.x < b.x + b.width && b.x < a.x + a.width && a.y < b.y + b.height && b.y < a.y + a.height;

describe.each([
  ["a small program", smallProgram],
  ["layers", () => layeredProgram(4)],
  ["branches", branchingProgram],
])("the scene of %s", (_name, make) => {
  test("keeps every box inside its container and off its neighbours", () => {
    const { root } = expanded(make());
    for (const box of [root, ...below(root)]) {
      for (const [at, child] of box.children.entries()) {
        expect(isInside(child, box), `${child.item.title} in ${box.item.title}`).toBe(true);
        for (const other of box.children.slice(at + 1)) {
          expect(overlap(child, other), `${child.item.title}, ${other.item.title}`).toBe(false);
        }
      }
    }
  });

  test("draws every edge from the box it leaves to the box it reaches", () => {
    const { root, boxOf } = expanded(make());
    for (const box of [root, ...below(root)]) {
      for (const { link, points } of box.edges) {
        const to = boxOf.get(link.to);
        const [x = 0, y = 0] = points.slice(-2);
        expect(points.length % 6).toBe(2);
        expect(to && x >= to.x - 2 && x <= to.x + to.width + 2).toBe(true);
        expect(to && y >= to.y - 2 && y <= to.y + to.height + 2).toBe(true);
      }
    }
  });
});

describe("a sketch", () => {
  test("of a closed scope is one box, with its class and the number of its ops", () => {
    const drawing = drawingOf(layeredProgram(2), PLAIN);
    const root = sketch(drawing, new Set(), measure);
    const encoder = root.children.find((box) => box.item.title === "encoder");
    const text = encoder?.lines[0]?.pieces.map((piece) => piece.text).join("");
    expect([encoder?.children.length, text]).toEqual([0, "Encoder · 6 ops"]);
  });

  test("names the sizes of an edge's value, each symbol as itself", () => {
    const root = sketch(drawingOf(smallProgram(), PLAIN), new Set(), measure);
    const edge = root.edges.find(({ link }) => link.to.title === "linear");
    expect(edge?.text.pieces.map(({ text, symbol }) => [text, symbol])).toEqual([
      ["batch", 0],
      ["×", -1],
      ["4", -1],
    ]);
  });

  test("gives a name of any length no more than its room", () => {
    const build = new RecordBuilder();
    const name = "x".repeat(10_000);
    const scope = build.scope(name, name);
    const value = build.call(name, [build.input(name, [name])], { scope });
    build.output([build.call("sin", [value], { scope })]);
    const drawing = drawingOf(new Program(build.record()), PLAIN);
    const boxes = sketch(drawing, new Set(drawing.forest.openable.keys()), measure);
    const laidOut = JSON.stringify(layoutBox(boxes));
    const widths = [...laidOut.matchAll(/"width":(\d+)/g)].map(([, width]) => Number(width));
    expect(Math.max(...widths)).toBeLessThanOrEqual(424);
  });

  test("names a value once, however many boxes it goes to", () => {
    const root = sketch(drawingOf(layeredProgram(2), PLAIN), new Set(), measure);
    const texts = root.edges
      .filter(({ link }) => link.from.title === "x")
      .map(({ text }) => text.pieces.map((piece) => piece.text).join(""));
    expect(texts).toEqual(["batch×seq×8", ""]);
  });

  test("takes room for numbers that other layers have in their names", () => {
    const { record } = layeredProgram(12);
    const strings = record.strings.map((each) => each.replace(/^matmul(?=_|$)/, "scores"));
    const layers = drawingOf(new Program({ ...record, strings }), PLAIN);
    const boxes = sketch(layers, new Set(layers.forest.openable.keys()), measure);
    const widths = [...below(boxes)]
      .filter((box) => box.item.title === "matmul" && /^scores_/.test(box.item.subtitle))
      .map((box) => layoutBox(box).width);
    expect(new Set(widths).size).toBe(1);
  });
});

describe("layouts", () => {
  test("are shared by scopes of the same structure", () => {
    const placer = new Placer(dot);
    expanded(layeredProgram(12), placer);
    const twelve = placer.layouts;
    expanded(layeredProgram(24), placer);
    expect(placer.layouts - twelve).toBeLessThanOrEqual(3); // the root, the encoder, the stack
  });

  test("are made once per structure", () => {
    let runs = 0;
    const placer = new Placer((source) => {
      runs += 1;
      return dot(source);
    });
    const leaf: LayoutBox = { width: 60, height: 24 };
    const group: LayoutBox = { width: 80, height: 30, children: [leaf, leaf], links: [[0, 1, 0]] };
    placer.place({ width: 0, height: 0, children: [group, group, group], links: [] });
    expect([runs, placer.layouts]).toEqual([2, 2]);
  });

  test("put inputs above everything else", () => {
    const leaf: LayoutBox = { width: 60, height: 24 };
    const children = [leaf, leaf, leaf, { ...leaf, first: true }];
    const links: LayoutBox["links"] = [
      [0, 1, 0],
      [1, 2, 0],
      [3, 2, 0],
    ];
    const placed = new Placer(dot).place({ width: 0, height: 0, children, links });
    expect(placed.children?.[3]?.y).toBe(placed.children?.[0]?.y);
  });

  test("put boxes without edges, such as branches, in one row", () => {
    const low: LayoutBox = { width: 60, height: 24 };
    const high: LayoutBox = { width: 60, height: 300 };
    const box = { width: 0, height: 0, children: [low, high], links: [] };
    const [first, second] = new Placer(dot).place(box).children ?? [];
    expect(first?.y).toBe(second?.y);
  });

  test("of nothing have the size of the header", () => {
    const placed = new Placer(dot).place({ width: 80, height: 30, children: [], links: [] });
    expect([placed.width, placed.height]).toEqual([80, 30]);
  });
});

test("a scope without neighbours is open at first, and no other", () => {
  const build = new RecordBuilder();
  const scope = build.scope("body", "Body");
  const first = build.call("sin", [build.input("x", [4])], { scope });
  build.output([build.call("cos", [first], { scope })]);
  const alone = drawingOf(new Program(build.record()), PLAIN).forest;
  const among = drawingOf(besides(["head", "tail"]), PLAIN).forest;
  expect([...(firstOpen(alone)[0] ?? [])].map((key) => alone.openable.get(key)?.title)).toEqual([
    "body",
  ]);
  expect(firstOpen(among)[0]?.size).toBe(0);
});

/** Two modules of these names in a body, which has an op beside it. */
function besides(names: readonly string[], filler = 0): Program {
  const build = new RecordBuilder();
  const body = build.scope("body", "Body");
  let value = build.call("cos", [build.input("x", [4])]);
  for (let at = 0; at < filler; at++) value = build.call("cos", [value], { scope: body });
  for (const name of names) {
    const scope = build.scope(`body.${name}`, name, body);
    for (let at = 0; at < 6; at++) value = build.call("sin", [value], { scope });
  }
  build.output([value]);
  return new Program(build.record());
}

test("the scope around numbered layers is open at first, be they few, as long as it is small", () => {
  const opened = (program: Program): (string | undefined)[] => {
    const { forest } = drawingOf(program, PLAIN);
    return [...(firstOpen(forest)[0] ?? [])].map((key) => forest.openable.get(key)?.title);
  };
  expect(opened(besides(["layers.0"]))).toEqual(["body"]);
  expect(opened(besides(["layers.0", "layers.1"], 5))).toEqual(["body"]);
  expect(opened(besides(["attention", "mlp"]))).toEqual([]);
  expect(opened(besides(["layers.0", "layers.1"], 30))).toEqual([]);
});

test("an encoder and a decoder are open at first both or none", () => {
  const opened = (filler: number): (string | undefined)[] => {
    const build = new RecordBuilder();
    let value = build.input("x", [4]);
    for (const name of ["encoder", "decoder"]) {
      const stack = build.scope(name, "Stack");
      const fill = name === "decoder" ? filler : 0;
      for (let at = 0; at < fill; at++) value = build.call("cos", [value], { scope: stack });
      for (const layer of [0, 1]) {
        const scope = build.scope(`${name}.layers.${layer}`, "Layer", stack);
        for (let at = 0; at < 9 + layer; at++) value = build.call("sin", [value], { scope });
      }
    }
    build.output([value]);
    const { forest } = drawingOf(new Program(build.record()), PLAIN);
    return [...(firstOpen(forest)[0] ?? [])].map((key) => forest.openable.get(key)?.title);
  };
  expect(opened(1)).toEqual(["encoder", "decoder"]);
  expect(opened(21)).toEqual([]);
});

test("the scope around a run of layers is open at first where it is most of the program", () => {
  const { forest } = drawingOf(layeredProgram(5), PLAIN);
  expect([...(firstOpen(forest)[0] ?? [])].map((key) => forest.openable.get(key)?.title)).toEqual([
    "encoder",
  ]);
});

test("the scope around stages that are not alike is open at first", () => {
  const build = new RecordBuilder();
  const encoder = build.scope("encoder", "Encoder");
  let value = build.call("cos", [build.input("x", [4])]);
  for (const stage of [0, 1, 2]) {
    const scope = build.scope(`encoder.stages.${stage}`, "Stage", encoder);
    for (let at = 0; at < stage + 2; at++) value = build.call("sin", [value], { scope });
  }
  build.output([value]);
  const { forest } = drawingOf(new Program(build.record()), PLAIN);
  expect([...(firstOpen(forest)[0] ?? [])].map((key) => forest.openable.get(key)?.title)).toEqual([
    "encoder",
  ]);
});

test("a point is in a box and in all that hold it", () => {
  const scene = expanded(layeredProgram(1));
  const matmul = [...scene.boxOf.values()].find((box) => box.item.title === "matmul");
  const { x = 0, y = 0 } = matmul ?? {};
  expect(boxesAt(scene, x + 1, y + 1).map((box) => box.item.title)).toEqual([
    "encoder",
    "layer.0",
    "attention",
    "matmul",
  ]);
});

test("what was written in boxes and at edges is not measured again when others are opened", () => {
  const drawing = drawingOf(layeredProgram(4), PLAIN);
  let measured = 0;
  const counting = (text: string): number => {
    measured += 1;
    return measure(text);
  };
  const all = new Set(drawing.forest.openable.keys());
  const first = sketch(drawing, all, counting);
  const once = measured;
  const again = sketch(drawing, all, counting);
  expect([once > 0, measured]).toEqual([true, once]);
  expect(again).toEqual(first);
});
