import { describe, expect, test } from "vitest";
import { layeredProgram } from "../testing/models";
import { drawingOf } from "./drawing";
import { Placer } from "./graphviz_layout";
import type { LayoutBox } from "./layout_types";
import { type Scene, type SceneBox, settle } from "./scene";
import { type Before, layingOut, layoutBox, sketch, sketching } from "./sketch";
import { finished, unhurried } from "./steps";

const measure = (text: string): number => 6 * text.length;
const placer = new Placer(null);
const drawing = drawingOf(layeredProgram(6), { housekeeping: false, parameters: false });
const all = new Set(drawing.forest.openable.keys());

function shown(open: ReadonlySet<string>, before: Before | null): Scene {
  const root = finished(sketching(drawing, open, measure, before));
  return settle(root, placer.place(layoutBox(root)));
}

/** Where everything stands. */
const places = ({ boxOf }: Scene): unknown =>
  [...boxOf.values()]
    .map(({ edges, height, item, width, x, y }) => [item.key, x, y, width, height, edges])
    .sort(([a], [b]) => String(a).localeCompare(String(b)));

const titled = ({ boxOf }: Scene, title: string): SceneBox | undefined =>
  [...boxOf.values()].find(({ item }) => item.title === title);

describe("where something is closed or opened", () => {
  const layer = [...all].find((key) => drawing.forest.openable.get(key)?.title === "layer.2") ?? "";
  const without = new Set([...all].filter((key) => key !== layer));

  test("all stands where it would if it were made anew", () => {
    const closed = shown(without, { boxOf: shown(all, null).boxOf, open: all });
    expect(places(closed)).toEqual(places(shown(without, null)));
    const opened = shown(all, { boxOf: closed.boxOf, open: without });
    expect(places(opened)).toEqual(places(shown(all, null)));
  });

  test("what is beside it is moved, and not made again", () => {
    const before = shown(all, null);
    const beside = titled(before, "layer.4");
    const y = beside?.y ?? 0;
    const after = shown(without, { boxOf: before.boxOf, open: all });
    expect(titled(after, "layer.4")).toBe(beside);
    expect(beside?.y).toBeLessThan(y);
    expect(titled(after, "layer.2")).not.toBe(titled(before, "layer.2"));
  });

  test("the layout is told of it alone", () => {
    const { boxOf } = shown(all, null);
    const root = finished(sketching(drawing, without, measure, { boxOf, open: all }));
    const count = (box: LayoutBox): number =>
      1 + (box.children ?? []).reduce((sum, child) => sum + count(child), 0);
    expect(count(layoutBox(root))).toBeLessThan(boxOf.size / 3);
  });
});

test("layers that are alike are sent to the layout as one, however many there are", () => {
  const groupsOf = (layers: number): number => {
    const many = drawingOf(layeredProgram(layers), { housekeeping: false, parameters: false });
    const groups = new Set<LayoutBox>();
    const visit = (box: LayoutBox): void => {
      if (box.children) groups.add(box);
      box.children?.forEach(visit);
    };
    visit(layoutBox(sketch(many, new Set(many.forest.openable.keys()), measure)));
    return groups.size;
  };
  expect(groupsOf(9)).toBe(groupsOf(5));
});

test("long work gives the page its turn, and ends where it is not wanted any more", async () => {
  function* slow(): Generator<void, string> {
    for (let at = 0; at < 3; at++) {
      const until = performance.now() + 30;
      while (performance.now() < until);
      yield;
    }
    return "done";
  }
  const work = unhurried(slow(), () => true);
  expect(work).toBeInstanceOf(Promise);
  expect(await work).toBe("done");
  expect(await unhurried(slow(), () => false)).toBeNull();
  const quick = layingOut(sketch(drawing, new Set(), measure));
  expect(unhurried(quick, () => true)).not.toBeInstanceOf(Promise);
});
