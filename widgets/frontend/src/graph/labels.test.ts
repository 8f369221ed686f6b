import { expect, test } from "vitest";
import { Program } from "../program";
import { RecordBuilder } from "../testing/records";
import { drawingOf } from "./drawing";
import { boxLines, edgePieces, isSum } from "./labels";

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

test("the sizes along an edge multiply as they are written, a long formula by its symbols", () => {
  const build = new RecordBuilder();
  const x = build.input("x", ["batch", 32, "h - 1", "((w - 1)//2) + 1"]);
  build.output([build.call("relu", [x])]);
  const program = new Program(build.record());
  const { forest, links } = drawingOf(program, { housekeeping: false, parameters: false });
  const link = links.inside(forest.root)[0];
  if (!link) throw new Error("there is no edge");
  const text = edgePieces(program, link, "f32").map((piece) => piece.text);
  expect(text.join("")).toBe("batch×32×(h - 1)×w…");
});

test("what an op holds is on one line as far as it takes it", () => {
  const lines = (names: string[]): string[] => {
    const build = new RecordBuilder();
    const held = names.map((name) => build.parameter(`norm.${name}`, [64]));
    build.output([build.call("op", [build.input("x", [4]), ...held])]);
    const program = new Program(build.record());
    const { forest } = drawingOf(program, { housekeeping: false, parameters: false });
    const op = forest.items.find(({ kind }) => kind === "op");
    if (!op) throw new Error("there is no op");
    return boxLines(program, op, []).map((line) => line.map(({ text }) => text).join(""));
  };
  expect(lines(["weight", "bias"])).toEqual(["weight 64 · bias 64"]);
  expect(lines(["weight", "bias", "running_mean", "running_var"])).toEqual([
    "weight 64 · bias 64",
    "running_mean 64 · running_var 64",
  ]);
  expect(lines(["a", "b", "c", "d", "e"]).at(-1)).toBe("… 1 more");
});
