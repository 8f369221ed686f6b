import { expect, test } from "vitest";
import { storeOf } from "../testing/fake_host";
import { tracedRecord } from "../testing/models";
import { commandsOf, matching, type Surroundings } from "./all_commands";

const AROUND: Surroundings = {
  full: false,
  toggleFull: () => undefined,
  outlined: false,
  below: false,
  keepOutline: () => undefined,
  putBelow: () => undefined,
};

const { store, program } = storeOf(tracedRecord().record());
const names = (text = ""): string[] =>
  matching(commandsOf(store, program, AROUND), text).map(({ name }) => name);

test("commands for the selection are there once something is selected, and first", () => {
  expect(names()[0]).not.toBe("Inspect it");
  const node = program.nodesAt(0, 4).at(-1) ?? -1;
  store.select({ kind: "nodes", nodes: [node] }, "graph");
  expect(names().slice(0, 2)).toEqual(["Inspect it", "Show its source line"]);
  const find = commandsOf(store, program, AROUND).find(({ name }) => name.startsWith("Find every"));
  find?.run(document.body);
  expect(store.query.value).toMatch(/^op:/);
  store.clear();
});

test("every word counts, in a name before in what it means", () => {
  expect(names("verify")[0]).toMatch(/^Verify/);
  expect(names("colour line")).toEqual(["Source line"]);
  expect(names("rank")).toContain("rank = 4");
  expect(names("no such thing")).toEqual([]);
});

test("every command has a name of its own in its group", () => {
  const keys = commandsOf(store, program, AROUND).map(({ group, name }) => `${group} ${name}`);
  expect(new Set(keys).size).toBe(keys.length);
});
