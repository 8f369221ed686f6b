import { expect, test } from "vitest";
import { Program } from "./program";
import { branchingProgram, tracedRecord } from "./testing/models";
import { type Place, RecordBuilder } from "./testing/records";

test("each symbol of a size is a piece of its own", () => {
  const build = new RecordBuilder();
  build.input("x", ["2*batch + seq"]);
  const program = new Program(build.record());
  expect(program.sizePieces("2*batch + seq")).toEqual([
    { text: "2*", symbol: -1 },
    { text: "batch", symbol: 0 },
    { text: " + ", symbol: -1 },
    { text: "seq", symbol: 1 },
  ]);
});

test("a symbol's name within another name is no symbol", () => {
  const build = new RecordBuilder();
  build.input("x", ["s", "s2"]);
  const program = new Program(build.record());
  expect(program.pieces("s2 + s", [0, 1]).map(({ symbol }) => symbol)).toEqual([1, -1, 0]);
});

test("a name with brackets is found whole", () => {
  const build = new RecordBuilder();
  build.input("x", ["n"]);
  const record = build.record();
  const [symbol] = record.symbols;
  if (symbol) symbol.name = "x.shape[0]";
  const program = new Program(record);
  expect(program.pieces("2*x.shape[0] <= 8", [0])).toContainEqual({
    text: "x.shape[0]",
    symbol: 0,
  });
});

test("arguments are text and nodes, in order", () => {
  const program = new Program(tracedRecord().record());
  const mul = [...program.allNodes()].find((id) => program.name(id) === "mul") ?? -1;
  const pieces = program.argumentPieces(mul);
  expect(pieces.map((each) => ("text" in each ? each.text : program.name(each.node)))).toEqual([
    "linear",
    ", ",
    "sym_size",
  ]);
});

test("a line's ops are not the tensors that they read", () => {
  const build = new RecordBuilder();
  const place: Place = [build.file("net.py"), 3, "forward"];
  const x = build.input("x", [4]);
  const weight = build.attribute("lin.weight", [4, 4], [place]);
  const linear = build.call("linear", [x, weight], { stack: [place] });
  build.output([linear]);
  const program = new Program(build.record());
  expect(program.nodesAt(0, 3)).toEqual([linear]);
});

test("a line knows its ops, and an op its line", () => {
  const program = new Program(tracedRecord().record());
  const [linear] = program.nodesAt(0, 3);
  expect(program.name(linear ?? -1)).toBe("linear");
  expect(program.stack(linear ?? -1).map(({ line }) => line)).toEqual([3, 134]);
});

test("an op with branches knows their nodes, and these the op", () => {
  const program = branchingProgram();
  const cond = [...program.allNodes()].find((id) => program.name(id) === "cond") ?? -1;
  const [first] = program.branchesOf(cond);
  expect(first?.argument).toBe("true_fn");
  expect(program.runnerOf(first?.nodes[0] ?? -1)).toEqual({ node: cond, argument: "true_fn" });
});

test("what some ops read of the program's own is counted once", () => {
  const program = new Program(tracedRecord().record());
  const held = program.heldBy([...program.allNodes()]);
  expect(held.map(({ target }) => target)).toEqual(["lin.weight"]);
});
