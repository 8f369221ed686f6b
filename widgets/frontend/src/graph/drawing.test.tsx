import { render } from "preact";
import { act } from "preact/test-utils";
import { expect, test, vi } from "vitest";
import type { Item } from "../forest/items";
import { forestOf } from "../forest/program_forest";
import { Outline } from "../panes/outline/Outline";
import { Program } from "../program";
import { storeOf } from "../testing/fake_host";
import { layeredProgram } from "../testing/models";
import { freshPage, page } from "../testing/page";
import { RecordBuilder } from "../testing/records";
import { drawingOf } from "./drawing";

freshPage();

const PLAIN = { housekeeping: false, parameters: false };

/** The whole tree, with what each item is in. */
const shapeOf = (item: Item): unknown => [item.key, item.parent?.key, item.children.map(shapeOf)];

test("a forest is made once, for graph and outline, and drawing it leaves it as it is", async () => {
  const { store, program } = storeOf(layeredProgram(5).record);
  const forest = forestOf(program, PLAIN);
  const before = shapeOf(forest.root);
  const asked = vi.spyOn(program, "scope");
  await act(() => render(<Outline store={store} program={program} />, page));
  expect(page.querySelectorAll("[role=treeitem]").length).toBeGreaterThan(3);
  expect(asked.mock.calls).toEqual([]); // a forest is made by asking of every node where it is
  // Not by toBe, which would go through trees that lead back to where they start.
  expect(drawingOf(program, PLAIN).forest === forest).toBe(true);
  expect(shapeOf(forest.root)).toEqual(before);
  expect(forestOf(program, { ...PLAIN, parameters: true }) === forest).toBe(false);
});

test("what is in a chunk is linked to what is outside of it", () => {
  const build = new RecordBuilder();
  let value = build.input("x", ["batch"]);
  for (let at = 0; at < 400; at++) value = build.call("sin", [value]);
  build.output([value]);
  const drawing = drawingOf(new Program(build.record()), PLAIN);
  const inside = drawing.links.inside(drawing.forest.root);
  const chunks = drawing.forest.root.children.filter(({ kind }) => kind === "chunk");
  expect(chunks.length).toBeGreaterThan(5);
  expect(inside).toHaveLength(chunks.length + 1);
});
