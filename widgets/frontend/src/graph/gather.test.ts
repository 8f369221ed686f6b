import { expect, test } from "vitest";
import { smallProgram } from "../testing/models";
import { drawingOf } from "./drawing";
import { nodesWithin, toggled } from "./gather";
import { Placer } from "./graphviz_layout";
import { settle } from "./scene";
import { layoutBox, sketch } from "./sketch";

test("what is among the selected is taken out, what is not is added", () => {
  expect(toggled([1, 2], [3, 4])).toEqual([1, 2, 3, 4]);
  expect(toggled([1, 2, 3], [2, 3])).toEqual([1]);
  expect(toggled([1, 2], [2, 3])).toEqual([1, 2, 3]);
});

test("a frame takes the closed boxes that it touches", () => {
  const program = smallProgram();
  const drawing = drawingOf(program, { housekeeping: false, parameters: false });
  const root = sketch(drawing, new Set(), (text) => 6 * text.length);
  const scene = settle(root, new Placer(null).place(layoutBox(root)));
  const whole = { x: 0, y: 0, width: scene.width, height: scene.height };
  const names = (nodes: readonly number[]): string[] => nodes.map((each) => program.name(each));
  expect(names(nodesWithin(scene, whole))).toEqual(["x", "linear", "relu", "output"]);
  const relu = [...scene.boxOf.values()].find(({ item }) => item.title === "relu");
  if (!relu) throw new Error("there is no relu");
  const inside = { x: relu.x + 5, y: relu.y + 5, width: 1, height: 1 };
  expect(names(nodesWithin(scene, inside))).toEqual(["relu"]);
});
