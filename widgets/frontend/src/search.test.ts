import { expect, test } from "vitest";
import { Program } from "./program";
import { search } from "./search";
import { layeredProgram, smallProgram, tracedRecord } from "./testing/models";

const names = (program: Program, query: string): string[] =>
  search(program, query).nodes.map((id) => program.name(id));
const paths = (program: Program, query: string): string[] =>
  search(program, query).scopes.map((scope) => program.record.scopes[scope]?.path ?? "");

test("an empty query finds nothing", () => {
  expect(search(smallProgram(), "  ")).toMatchObject({ nodes: [], scopes: [], problem: null });
});

test("an op is found by its operator, whatever the case", () => {
  expect(names(smallProgram(), "ReLU")).toEqual(["relu"]);
});

test("a parameter is found by its place in the module", () => {
  expect(names(smallProgram(), "lin.weight")).toEqual(["p_lin_weight"]);
});

test("a type is found with its blanks or without, and `*` stands for one size", () => {
  const program = layeredProgram(1);
  expect(names(program, "f32[batch, seq]")).toEqual(["ones"]);
  expect(names(program, "f32[*,seq]")).toEqual(["ones"]);
  expect(names(program, "f32[*, 8, 8]")).toEqual([]);
});

test("a module is found itself, and not all that is in it", () => {
  const program = layeredProgram(3);
  expect(paths(program, "layer.1")).toEqual(["encoder.layer.1"]);
  expect(names(program, "layer.1")).toEqual([]);
});

test("a number is a whole number", () => {
  expect(paths(layeredProgram(12), "layer.1")).toEqual(["encoder.layer.1"]);
});

test("a module is found by its class", () => {
  expect(paths(layeredProgram(2), "Attention")).toHaveLength(2);
});

test("more words narrow it down: the ops of a module", () => {
  expect(names(layeredProgram(3), "layer.2 linear")).toEqual(["linear_2"]);
  expect(names(layeredProgram(3), "models.Attention add")).toHaveLength(3);
});

test("an op is found by a line of its stack", () => {
  expect(names(new Program(tracedRecord().record()), "twice.py:10")).toEqual(["mul"]);
});

test("signs that mean something in a pattern are only signs", () => {
  expect(() => search(smallProgram(), "([{\\^$.|?+")).not.toThrow();
  expect(names(smallProgram(), "rel.")).toEqual([]);
});
