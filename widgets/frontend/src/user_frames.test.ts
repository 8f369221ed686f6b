import { expect, test } from "vitest";
import { Program } from "./program";
import { tracedRecord } from "./testing/models";
import { bestFrame, callersOf, lineOf, ownFrames } from "./user_frames";

const program = new Program(tracedRecord().record());
const stackOf = (name: string) =>
  program.stack([...program.allNodes()].find((id) => program.name(id) === name) ?? -1);

test("the user's own frames come before a library's", () => {
  expect(ownFrames(program, stackOf("mul")).map(({ file }) => file)).toEqual([0]);
  expect(bestFrame(program, stackOf("mul"))?.line).toBe(4);
});

test("without frames of the user's, a library's are shown; else torch's", () => {
  const library = { file: 1, line: 10, function: "twice" };
  const torch = { file: 2, line: 134, function: "forward" };
  expect(ownFrames(program, [library, torch])).toEqual([library]);
  expect(ownFrames(program, [torch])).toEqual([torch]);
});

test("a line knows which lines called it", () => {
  expect(callersOf(program, 1, 10)).toEqual([
    { frame: { file: 0, line: 4, function: "forward" }, ops: 1 },
  ]);
  expect(callersOf(program, 0, 4)).toEqual([]);
});

test("a selection without any recorded line has none to show", () => {
  expect(lineOf(program, { kind: "none" }, new Set())).toBeUndefined();
});
