import { expect, test } from "vitest";
import { Program } from "../../program";
import { CELL, smallProgram, tracedRecord } from "../../testing/models";
import { RecordBuilder } from "../../testing/records";
import { firstLineOf, startOf } from "./source_start";

test("source begins at the first line of the user's own that made an op", () => {
  const program = new Program(tracedRecord().record());
  expect(startOf(program)).toEqual({ file: 0, line: 3 });
  expect(CELL.split("\n")[2]).toContain("self.lin");
});

test("a library's wrapper, which only passes every op on, is not where source begins", () => {
  const build = new RecordBuilder();
  const wrapper = build.file("utils/generic.py", "library");
  const model = build.file("models/llama.py", "library");
  const x = build.input("x", [4]);
  const through = (line: number): [number, number, string][] => [
    [wrapper, 900, "wrapper"],
    [model, line, "forward"],
  ];
  const y = build.call("relu", [x], { stack: through(70) });
  build.output([build.call("sin", [y], { stack: through(60) })]);
  const program = new Program(build.record());
  expect(startOf(program)).toMatchObject({ file: model, line: 60 });
  expect(firstLineOf(program, wrapper)).toBe(900);
});

test("a failure's source begins where it failed", () => {
  const record = tracedRecord().record();
  const [stack] = [record.guards[0]?.stack ?? -1];
  const failure = { stack } as Program["record"]["failure"];
  expect(startOf(new Program({ ...record, failure }))).toMatchObject({ file: 0, line: 4 });
});

test("where no op knows its line there is no start", () => {
  expect(startOf(smallProgram())).toBeUndefined();
});
