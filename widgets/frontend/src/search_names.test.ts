import { expect, test } from "vitest";
import { Program } from "./program";
import { contains } from "./query/texts";
import { namesFound } from "./search_names";
import { RecordBuilder } from "./testing/records";

/** A program whose nodes have these names, and a branch whose nodes have others. */
function named(names: readonly string[]): Program {
  const build = new RecordBuilder();
  const predicate = build.input("p", []);
  const cond = build.call("cond", [predicate]);
  build.branch(cond, "true_fn", (graph) => {
    graph.output([graph.placeholder("inner", [4])]);
  });
  build.output([cond]);
  const record = build.record();
  const [first, ...rest] = record.graphs;
  if (!first) throw new Error("there is no graph");
  const strings = [...record.strings, ...names];
  const name = Int32Array.from(names, (_, at) => record.strings.length + at);
  return new Program({ ...record, strings, graphs: [{ ...first, name }, ...rest] });
}

const found = (names: readonly string[], word: string): string[] => {
  const [main] = namesFound(named(names), contains(word));
  return names.filter((_, at) => main?.[at] === 1);
};

test("each name is looked at by itself, the first and the last too", () => {
  const names = ["linear", "add", "linear_linear", "add_1", "relinear"];
  expect(found(names, "linear")).toEqual(["linear", "linear_linear", "relinear"]);
  expect(found(names, "add_1")).toEqual(["add_1"]);
  expect(found(names, "x")).toEqual([]);
  expect(found(["LINEAR"], "linear")).toEqual(["LINEAR"]);
});

test("a number is a whole one, and a star stays within a name", () => {
  expect(found(["add_1", "add_11", "1", "21"], "1")).toEqual(["add_1", "1"]);
  expect(found(["a_b", "a", "b", "ab"], "a*b")).toEqual(["a_b", "ab"]);
});

test("names that are empty or many lines long keep the others in their places", () => {
  expect(found(["", "sin", "", "s\nin", "cos"], "cos")).toEqual(["cos"]);
  expect(found(["a\nsin", "sin"], "sin")).toEqual(["a\nsin", "sin"]);
});

test("the graphs of branches have names of their own", () => {
  const [, inner] = namesFound(named(["p", "cond", "output"]), contains("inner"));
  expect([...(inner ?? [])]).toContain(1);
});
