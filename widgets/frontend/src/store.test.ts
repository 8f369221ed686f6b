import { expect, test } from "vitest";
import { Program } from "./program";
import { litBy } from "./selection";
import { storeOf } from "./testing/fake_host";
import { layeredProgram, tracedRecord } from "./testing/models";

const traced = (): Program => new Program(tracedRecord().record());
const named = (program: Program, name: string): number =>
  [...program.allNodes()].find((id) => program.name(id) === name) ?? -1;

test("an op lights up its lines and the symbols of its sizes", () => {
  const program = traced();
  const lit = litBy(program, { kind: "nodes", nodes: [named(program, "mul")] });
  expect([...lit.lines].map(([file, lines]) => [file, ...lines])).toEqual([
    [0, 4],
    [1, 10],
  ]);
  expect([...lit.symbols]).toEqual([0]);
});

test("a line lights up the ops that were made through it", () => {
  const program = traced();
  const lit = litBy(program, { kind: "line", file: 0, line: 3 });
  expect([...lit.nodes].map((id) => program.name(id))).toEqual(["linear"]);
});

test("a symbol lights up every value whose sizes are made of it", () => {
  const program = traced();
  const lit = litBy(program, { kind: "symbol", symbol: 0 });
  expect([...lit.nodes].map((id) => program.name(id))).toEqual(["x", "linear", "mul", "output"]);
});

test("a module lights up all that is in it", () => {
  const program = layeredProgram(2);
  const layer = program.record.scopes.findIndex(({ path }) => path === "encoder.layer.1");
  const lit = litBy(program, { kind: "scope", scope: layer });
  expect([...lit.nodes].map((id) => program.name(id))).toEqual(["matmul_1", "add_1", "linear_1"]);
});

test("going to a line opens Source there and leaves the selection alone", () => {
  const { store, program } = storeOf(tracedRecord().record());
  store.select({ kind: "nodes", nodes: [named(program, "mul")] }, "graph");
  store.goTo(1, 10);
  expect(store.text.value).toBe("source");
  expect(store.file.value).toBe(1);
  expect(store.selection.value.kind).toBe("nodes");
});

test("a selection from elsewhere lets Source follow it again; one made in Source does not", () => {
  const { store } = storeOf(tracedRecord().record());
  store.showFile(1);
  store.select({ kind: "line", file: 1, line: 10 }, "source");
  expect(store.file.value).toBe(1);
  store.select({ kind: "symbol", symbol: 0 }, "shapes");
  expect(store.file.value).toBeNull();
});

test("a text is fetched once per attempt, and again after a refusal", async () => {
  const { store } = storeOf(tracedRecord().record(), { sources: { 0: "x" } });
  const asked = (): string[] => (store.host as unknown as { asked: string[] }).asked;
  await store.source(0);
  await store.source(0);
  expect(asked()).toEqual(["source"]);
  await expect(store.source(7)).rejects.toThrow();
  await expect(store.source(7)).rejects.toThrow();
  expect(asked()).toEqual(["source", "source", "source"]);
});

test("what is selected stays so when more is known of the same program, and no longer", async () => {
  const record = tracedRecord().record();
  const { store } = storeOf(record, { record, action: () => null });
  await store.show(0);
  store.select({ kind: "nodes", nodes: [1] }, "graph");
  await store.verify(2);
  expect(store.selection.value).toEqual({ kind: "nodes", nodes: [1] });
  await store.show(1);
  expect(store.selection.value.kind).toBe("none");
});

test("a record that cannot be had is a sentence on the screen", async () => {
  const { store } = storeOf(tracedRecord().record());
  await store.show(3);
  expect(store.status.value).toEqual({ kind: "error", message: "That is not on this machine." });
});
