/** Layouts that come late, and what is done to a graph before they do. */

import { beforeEach, describe, expect, test } from "vitest";
import { merge } from "../compare/merged";
import type { Item } from "../forest/items";
import { Program } from "../program";
import type { Failure } from "../record.gen";
import { layeredProgram, smallProgram } from "../testing/models";
import { failureOf, RecordBuilder } from "../testing/records";
import { type Camera, shows } from "./camera";
import { type Drawing, drawingOf, drawingOfBoth } from "./drawing";
import { Folding } from "./folding";
import { Placer } from "./graphviz_layout";
import type { LayoutBox, Placed } from "./layout_types";
import type { Scene, SceneBox } from "./scene";
import type { Stage } from "./stage";

interface Asked {
  box: LayoutBox;
  answer: () => void;
  refuse: () => void;
}

const asked: Asked[] = [];

const layouter = {
  dispose: () => undefined,
  place: (box: LayoutBox): Promise<Placed> =>
    new Promise((resolve, reject) => {
      asked.push({
        box,
        answer: () => resolve(new Placer(rows).place(box)),
        refuse: () => reject(new Error("no room")),
      });
    }),
};

/** As Graphviz would answer, had it put every box below the one before. */
function rows(source: string): string {
  const boxes = source.match(/^\d+\[width/gm) ?? [];
  const objects = boxes.map((_, index) => ({ name: `${index}`, pos: `100,${40 * index + 20}` }));
  return JSON.stringify({ bb: `0,0,200,${40 * boxes.length}`, objects, edges: [] });
}

const PLAIN = { housekeeping: false, parameters: false };
const layers = (): Drawing => drawingOf(layeredProgram(2, 1), PLAIN);

/** A stage of 400 by 300 pixels that only remembers what it was shown. */
function parts(): {
  folding: Folding;
  stage: Stage;
  shown: (Scene | null)[];
  cameras: (Camera | undefined)[];
  glided: number[];
} {
  const shown: (Scene | null)[] = [];
  const cameras: (Camera | undefined)[] = [];
  const glided: number[] = [];
  const stage = {
    camera: { x: 0, y: 0, zoom: 1 },
    size: { width: 400, height: 300 },
    measure: (text: string) => 6 * text.length,
    show: (scene: Scene | null, camera?: Camera) => {
      shown.push(scene);
      cameras.push(camera);
    },
    glideTo: () => void glided.push(1),
    moveTo: () => undefined,
    boxAt: () => shown.at(-1)?.root.children[0] ?? null,
    repaint: () => undefined,
  };
  const made = stage as unknown as Stage;
  return { folding: new Folding(made, layouter), stage: made, shown, cameras, glided };
}

/** On a busy machine a layout takes several turns of the page. */
async function settle(): Promise<void> {
  for (let count = 0; count < 5; count++) await new Promise((resolve) => setTimeout(resolve, 0));
}

async function answer(index?: number): Promise<void> {
  await settle();
  asked.at(index ?? -1)?.answer();
  await settle();
}

const named = (drawing: Drawing, title: string): Item => {
  const found = drawing.forest.items.find((item) => item.title === title);
  if (!found) throw new Error(`there is no ${title}`);
  return found;
};

const openIn = (scene: Scene | null | undefined): string[] => {
  const found: string[] = [];
  const visit = (box: SceneBox): void => {
    if (box.open && box.depth > 0) found.push(box.item.title);
    box.children.forEach(visit);
  };
  if (scene) visit(scene.root);
  return found;
};

beforeEach(() => {
  asked.length = 0;
});

test("of two toggles, the second before the first is laid out, none is lost", async () => {
  const { folding, shown } = parts();
  const drawing = layers();
  folding.show(drawing, false, false);
  await answer();
  void folding.toggle(named(drawing, "layer.0"));
  void folding.toggle(named(drawing, "layer.1"));
  await answer();
  await answer(1);
  expect(openIn(shown.at(-1))).toEqual(["encoder", "layer.0", "layer.1"]);
});

test("a toggle before the first layout is not lost", async () => {
  const { folding, shown } = parts();
  const drawing = layers();
  folding.show(drawing, false, false);
  void folding.toggle(named(drawing, "layer.1"));
  await answer(0);
  await answer(1);
  expect(openIn(shown.at(-1))).toEqual(["encoder", "layer.1"]);
});

test("while a new program is laid out, a click does not hit the old one's nodes", async () => {
  const { folding, shown } = parts();
  folding.show(layers(), false, false);
  await answer();
  expect(folding.boxAt(10, 10)).not.toBeNull();
  folding.show(drawingOf(smallProgram(), PLAIN), false, false);
  expect(folding.boxAt(10, 10)).toBeNull();
  await answer();
  const box = folding.boxAt(10, 10);
  expect(box).toBe(shown.at(-1)?.root.children[0]);
  expect(box?.item.title).toBe("x");
});

test("the same program under other options can be clicked all the time", async () => {
  const { folding } = parts();
  folding.show(layers(), false, false);
  await answer();
  folding.show(layers(), true, false);
  expect(folding.boxAt(10, 10)).not.toBeNull();
});

test("a layout that fails leaves what was open, and the next one counts from there", async () => {
  const { folding, shown } = parts();
  const drawing = layers();
  folding.show(drawing, false, false);
  await answer();
  const layer = named(drawing, "layer.1");
  void folding.toggle(layer);
  asked.at(-1)?.refuse();
  await settle();
  expect(folding.problem.value).toContain("no room");
  void folding.toggle(layer);
  await answer();
  expect(openIn(shown.at(-1))).toEqual(["encoder", "layer.1"]);
  expect(folding.problem.value).toBeNull();
});

test("what is to be brought into view is, once it has a place", async () => {
  const { folding, glided } = parts();
  const drawing = layers();
  folding.show(drawing, false, false);
  void folding.reveal(named(drawing, "layer.1"));
  expect(glided).toEqual([]);
  await answer();
  expect(glided).toEqual([1]);
});

/** A chain of `count` ops, the last two of them made by line 9 of a cell. */
function chain(count: number, failure: Failure | null, ...more: string[]): Program {
  const build = new RecordBuilder("net(x)");
  const cell = build.file("Cell In[2]", "cell");
  let last = build.input("x", [4]);
  for (let index = 0; index < count; index++) {
    const line = index < count - 2 ? 1 : 9;
    last = build.call("relu", [last], { stack: [[cell, line, "forward"]] });
  }
  for (const op of more) last = build.call(op, [last]);
  if (!failure) build.output([last]);
  return new Program({ ...build.record(), failure });
}

/** The node that the first view has to show, and whether it does. */
async function firstSeen(drawing: Drawing): Promise<[node: number | undefined, seen: boolean]> {
  const { folding, stage, cameras } = parts();
  folding.show(drawing, false, false);
  await answer();
  const box = folding.boxOf(drawing.sought);
  const camera = cameras.at(-1);
  return [drawing.sought?.node, !!box && !!camera && shows(camera, box, stage.size)];
}

test("the first view of a failure shows the last op of its line, or the last of all", async () => {
  const failing = chain(30, failureOf({}), "neg");
  const at = Math.max(...failing.nodesAt(0, 9));
  const stack = failing.stackIndex(at);
  const known = new Program({ ...failing.record, failure: failureOf({ stack }) });
  expect(await firstSeen(drawingOf(known, PLAIN))).toEqual([at, true]);
  expect(await firstSeen(drawingOf(failing, PLAIN))).toEqual([at + 1, true]);
  expect(drawingOf(chain(30, null), PLAIN).sought).toBeNull();
});

test("the first view of two programs shows where they part", async () => {
  const [before, after] = [chain(30, null, "sin"), chain(30, null, "cos")];
  const pairs = Array.from({ length: 33 }, (_, node) => node)
    .filter((node) => node !== 31)
    .map((node) => ({ before: node, after: node, why: "structure" as const, changes: [] }));
  const main = { before: 0, after: 0, title: "main", pairs, removed: [31], added: [31] };
  const merged = merge(before, after, {
    ...{ before: "a", after: "b", symbols: [], others: [], renamed: [], modules: [] },
    ...{ identical: false, weights: "", graphs: [{ ...main, became: [] }] },
  });
  expect(await firstSeen(drawingOfBoth(merged, PLAIN))).toEqual([31, true]);
});

/** As Graphviz would answer, had it put every box beside the one before. */
function columns(source: string): string {
  const boxes = source.match(/^\d+\[width/gm) ?? [];
  const objects = boxes.map((_, index) => ({ name: `${index}`, pos: `${2000 * index + 1000},20` }));
  return JSON.stringify({ bb: `0,0,${2000 * boxes.length},40`, objects, edges: [] });
}

test("what most ops are in is in the middle at first, in a graph wider than its view", async () => {
  const { stage, cameras, shown } = parts();
  const wide = { ...layouter, place: async (box: LayoutBox) => new Placer(columns).place(box) };
  new Folding(stage, wide).show(layers(), false, false);
  await settle();
  const boxes = [...(shown.at(-1)?.boxOf.values() ?? [])];
  const main = boxes.find(({ item }) => item.title === "encoder");
  const { x, zoom } = cameras.at(-1) ?? { x: Number.NaN, zoom: 1 };
  expect((shown.at(-1)?.width ?? 0) * zoom).toBeGreaterThan(800);
  expect(main?.x).toBeGreaterThan(x);
  expect(main?.x).toBeLessThan(x + 400 / zoom);
});

test("what would be too wide to read is closed at first", async () => {
  const { stage, shown } = parts();
  const made: number[] = [];
  const first = {
    ...layouter,
    place: async (box: LayoutBox) =>
      new Placer(made.push(box.children?.length ?? 0) === 1 ? columns : rows).place(box),
  };
  const folding = new Folding(stage, first);
  const drawing = layers();
  folding.show(drawing, false, false);
  await settle();
  expect(made).toHaveLength(2);
  expect(shown.map(openIn)).toEqual([[]]);
  await folding.toggle(named(drawing, "encoder"));
  expect(openIn(shown.at(-1)), "and stays open where it is opened by hand").toEqual(["encoder"]);
});

describe("for who does not see it, it is said", () => {
  test("what opened, what closed, and how many boxes there are then", async () => {
    const { folding } = parts();
    const drawing = layers();
    folding.show(drawing, false, false);
    await answer();
    expect(folding.said.value).toBe("");
    void folding.toggle(named(drawing, "layer.0"));
    await answer();
    expect(folding.said.value).toMatch(/^layer\.0 opened: \d+ boxes in the graph$/);
    void folding.toggle(named(drawing, "layer.0"));
    await answer();
    expect(folding.said.value).toMatch(/^layer\.0 closed: /);
    void folding.expandAll();
    await answer();
    const all = Number(/^All opened: (\d+) boxes/.exec(folding.said.value)?.[1]);
    void folding.collapseAll();
    await answer();
    const none = Number(/^All closed: (\d+) box/.exec(folding.said.value)?.[1]);
    expect(none).toBeLessThan(all);
  });

  test("that a box holds nothing to open", async () => {
    const { folding } = parts();
    const drawing = layers();
    folding.show(drawing, false, true);
    await answer();
    const leaf = drawing.forest.items.find((item) => item.children.length === 0);
    if (!leaf) throw new Error("every box holds others");
    await folding.toggle(leaf);
    expect(folding.said.value).toBe(`${leaf.title} holds no ops`);
  });

  test("and nothing of a layout that another one overtook, or that did not come", async () => {
    const { folding } = parts();
    const drawing = layers();
    folding.show(drawing, false, false);
    await answer();
    void folding.expandAll();
    void folding.collapseAll();
    await answer(1);
    await answer();
    expect(folding.said.value).toMatch(/^All closed: /);
    void folding.expandAll();
    asked.at(-1)?.refuse();
    await settle();
    expect(folding.said.value).toMatch(/^All closed: /);
  });
});
