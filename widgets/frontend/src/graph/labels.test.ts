import { expect, test } from "vitest";
import { Program } from "../program";
import { RecordBuilder } from "../testing/records";
import { drawingOf } from "./drawing";
import { edgePieces, isSum } from "./labels";

test.each([
  ["batch", false],
  ["2*batch", false],
  ["max(h, w - 1)", false],
  ["(h + 1)*(w - 1)", false],
  ["h - 1", true],
  ["((h - 1)//2) + 1", true],
  ["h // 2", true],
  ["h % 4", true],
  ["-h", true],
])("%s is a factor only in brackets: %s", (size, expected) => {
  expect(isSum(size)).toBe(expected);
});

test("the sizes along an edge multiply as they are written", () => {
  const build = new RecordBuilder();
  const x = build.input("x", ["batch", 32, "((h - 1)//2) + 1"]);
  build.output([build.call("relu", [x])]);
  const program = new Program(build.record());
  const { forest, links } = drawingOf(program, { housekeeping: false, parameters: false });
  const link = links.inside(forest.root)[0];
  if (!link) throw new Error("there is no edge");
  const text = edgePieces(program, link, "f32").map((piece) => piece.text);
  expect(text.join("")).toBe("batch×32×(((h - 1)//2) + 1)");
});
