/** The compiled program: its kernels by op and by line. Pure. */

import { capped } from "./format";
import { ensure } from "./maps";
import { graphOf, indexOf, type NodeId, nodeId } from "./program";
import type { Kernel, StageGraph, Stages } from "./record.gen";

/** The pane's content: the kernels, or a graph or a text of code by its number. */
export type Shown = { kind: "kernels" } | { kind: "graph" | "code"; number: number };

/** Lines that kernels compute for together; their time is never split. */
export interface LineSet {
  /** Into `Stages.lines`; empty where none is known. */
  readonly lines: readonly number[];
  readonly kernels: readonly number[];
  readonly microseconds: number;
}

/** Each kernel once, by the set of its lines, the slowest set first. */
export function lineSets({ kernels }: Stages): LineSet[] {
  const sets = new Map<string, { lines: number[]; kernels: number[]; microseconds: number }>();
  kernels.forEach((kernel, number) => {
    const made = { lines: kernel.lines, kernels: [], microseconds: 0 };
    const row = ensure(sets, kernel.lines.join(), () => made);
    row.kernels.push(number);
    row.microseconds += Math.max(kernel.microseconds, 0);
  });
  return [...sets.values()].sort((a, b) => b.microseconds - a.microseconds);
}

/** The numbers of the kernels, the slowest first. */
export const slowestFirst = ({ kernels }: Stages): number[] =>
  kernels
    .map((_, number) => number)
    .sort((a, b) => (kernels[b]?.microseconds ?? 0) - (kernels[a]?.microseconds ?? 0));

/** Whether a kernel is of the backward pass of a training step. */
export const isBackward = ({ backward }: Stages, kernel: number): boolean =>
  backward >= 0 && kernel >= backward;

/** `net.py:12, 14`; the lines of a kernel by their files. */
export function linesText(stages: Stages, lines: readonly number[]): string {
  const files = new Map<string, number[]>();
  for (const number of lines) {
    const row = stages.lines[number];
    if (row) ensure(files, row.name, () => [] as number[]).push(row.line);
  }
  const numbers = (of: number[]): string => of.sort((a, b) => a - b).join(", ");
  return [...files].map(([name, of]) => `${capped(name, 120)}:${numbers(of)}`).join("; ");
}

/** The nodes of some kernels, in the main graph. */
export const nodesOfKernels = (stages: Stages, kernels: Iterable<number>): NodeId[] => [
  ...new Set(
    [...kernels].flatMap((number) =>
      (stages.kernels[number]?.nodes ?? []).map((node) => nodeId(0, node)),
    ),
  ),
];

const known = new WeakMap<Stages, ReadonlyMap<number, readonly number[]>>();

/** Per node of the main graph, the kernels that it is in. */
function kernelsByNode(stages: Stages): ReadonlyMap<number, readonly number[]> {
  return ensure(known, stages, () => {
    const found = new Map<number, number[]>();
    stages.kernels.forEach(({ nodes }, number) => {
      for (const node of nodes) ensure(found, node, () => [] as number[]).push(number);
    });
    return found;
  });
}

/** The kernels that compute for any of some nodes. */
export function kernelsOf(stages: Stages, nodes: Iterable<NodeId>): Set<number> {
  const of = kernelsByNode(stages);
  const found = new Set<number>();
  for (const id of nodes) {
    if (graphOf(id) === 0) for (const each of of.get(indexOf(id)) ?? []) found.add(each);
  }
  return found;
}

/** The nodes that an op of a stage comes from. */
export const nodesOfOp = ({ nodes: { starts, items } }: StageGraph, op: number): NodeId[] =>
  [...items.slice(starts[op], starts[op + 1])].map((node) => nodeId(0, node));

/** The ops of the last graph that a kernel computes, by name. */
export function opsOfKernel({ graphs }: Stages, kernel: Kernel): string[] {
  const graph = graphs.at(-1);
  return kernel.ops.map((op) => graph?.ops[op] ?? "").filter(Boolean);
}
