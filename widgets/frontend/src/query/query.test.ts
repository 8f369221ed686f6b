/** Queries find what the kernel finds: `python -m tests.query_cases` writes the cases. */

import { expect, test } from "vitest";
import { graphOf, indexOf, Program } from "../program";
import { search } from "../search";
import data from "../testing/queries.json";
import { decode } from "../wire";

interface Case {
  query: string;
  nodes?: number[][];
  error?: string;
  column?: number;
}

const bytes = Uint8Array.from(atob(data.record), (each) => each.charCodeAt(0));
const program = new Program(decode(new DataView(bytes.buffer)));
const cases: Case[] = data.cases;

test.each(cases)("$query", ({ query, nodes, error, column }) => {
  const { nodes: found, problem } = search(program, query);
  expect(problem).toEqual(error ? { reason: error, column } : null);
  expect(found.map((id) => [graphOf(id), indexOf(id)])).toEqual(nodes ?? []);
});
