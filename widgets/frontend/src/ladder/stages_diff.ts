/** The differences of two compilations, of one program or of two: ops of graphs, and kernels. Pure. */

import { ensure } from "../maps";
import { indexOf, nodeId } from "../program";
import type { Kernel, StageGraph, Stages } from "../record.gen";
import type { Merged } from "../two_programs";

/** As the engine's `KernelChange`. */
export type ChangeKind = "same" | "merged" | "split" | "regrouped" | "appeared" | "gone";

export interface KernelChange {
  readonly kind: ChangeKind;
  /** Kernels of each compilation that compute for the same ops. */
  readonly before: readonly number[];
  readonly after: readonly number[];
  /** After minus before; null if one was not measured. */
  readonly microseconds: number | null;
}

/** A graph that both have: how many ops, and what is called more or less often. */
export interface GraphChange {
  readonly name: StageGraph["name"];
  readonly before: number;
  readonly after: number;
  readonly calls: readonly (readonly [target: string, more: number])[];
}

export interface StagesDiff {
  readonly graphs: readonly GraphChange[];
  /** The largest change of time first, what is the same last. */
  readonly kernels: readonly KernelChange[];
}

/**
 * The kernels of another program's compilation, with nodes of the program on screen: those that both
 * have. A kernel of ops that only the other has keeps none.
 */
export function asOnScreen(stages: Stages, { twins }: Merged): Stages {
  const here = new Map([...twins].map(([id, there]) => [there, indexOf(id)]));
  const kernels = stages.kernels.map((kernel) => ({
    ...kernel,
    nodes: kernel.nodes.flatMap((node) => here.get(nodeId(0, node)) ?? []),
  }));
  return { ...stages, kernels };
}

export function diffStages(before: Stages, after: Stages): StagesDiff {
  const graphs = after.graphs.flatMap((graph): GraphChange[] => {
    const old = before.graphs.find(({ name }) => name === graph.name);
    return old ? [graphChange(old, graph)] : [];
  });
  const kernels = groups(before, after).map(([old, made]) => change(before, after, old, made));
  const size = ({ kind, microseconds }: KernelChange): number =>
    kind === "same" ? -1 : Math.abs(microseconds ?? 0);
  return { graphs, kernels: kernels.sort((a, b) => size(b) - size(a)) };
}

function graphChange(old: StageGraph, made: StageGraph): GraphChange {
  const more = new Map<string, number>();
  for (const target of made.targets) more.set(target, (more.get(target) ?? 0) + 1);
  for (const target of old.targets) more.set(target, (more.get(target) ?? 0) - 1);
  const calls = [...more].filter(([, count]) => count !== 0);
  return { name: made.name, before: old.ops.length, after: made.ops.length, calls };
}

/** The kernels of both that hang together by the ops that they compute for. */
function groups(before: Stages, after: Stages): [number[], number[]][] {
  const heads = new Map<string, string>();
  const head = (key: string): string => {
    let at = key;
    for (let next = heads.get(at); next !== undefined && next !== at; next = heads.get(at))
      at = next;
    return at;
  };
  const keysOf = ({ nodes, calls, name }: Kernel): string[] =>
    nodes.length > 0 ? nodes.map(String) : [calls || baseOf(name)];
  for (const { kernels } of [before, after]) {
    for (const kernel of kernels) {
      const [first = "", ...rest] = keysOf(kernel);
      for (const key of rest) heads.set(head(key), head(first));
    }
  }
  const found = new Map<string, [number[], number[]]>();
  [before, after].forEach(({ kernels }, side) => {
    kernels.forEach((kernel, number) => {
      const at = head(keysOf(kernel)[0] ?? "");
      ensure(found, at, (): [number[], number[]] => [[], []])[side]?.push(number);
    });
  });
  return [...found.values()];
}

const baseOf = (name: string): string => name.replace(/:\d+$/, "");

function change(before: Stages, after: Stages, old: number[], made: number[]): KernelChange {
  const [first, second] = [pick(before, old), pick(after, made)];
  const timed = [...first, ...second].every(({ microseconds }) => microseconds >= 0);
  const microseconds = timed ? total(second) - total(first) : null;
  return { kind: kindOf(first, second), before: old, after: made, microseconds };
}

const pick = ({ kernels }: Stages, numbers: readonly number[]): Kernel[] =>
  numbers.flatMap((number) => kernels[number] ?? []);

const total = (kernels: readonly Kernel[]): number =>
  kernels.reduce((sum, { microseconds }) => sum + microseconds, 0);

function kindOf(old: readonly Kernel[], made: readonly Kernel[]): ChangeKind {
  if (old.length === 0) return "appeared";
  if (made.length === 0) return "gone";
  const shapes = (kernels: readonly Kernel[]): string => kernels.map(shapeOf).sort().join("\n");
  if (shapes(old) === shapes(made)) return "same";
  if (old.length === made.length) return "regrouped";
  return made.length < old.length ? "merged" : "split";
}

/** Generated code has a number in its name, which says nothing. */
const shapeOf = ({ kind, calls, name }: Kernel): string =>
  `${kind} ${calls || baseOf(name).replace(/\d+$/, "")}`;
