/** The ops of a program that delegation backends take, by node. Pure. */

import { ensure } from "./maps";
import { type NodeId, nodeId, type Program } from "./program";
import type { DelegatedOp, Delegation, OpTable } from "./record.gen";

/** Ops outside that have one reason. */
export interface Outside {
  readonly op: string;
  readonly reason: string;
  readonly ops: readonly DelegatedOp[];
  readonly flops: number;
  /** Microseconds of a call; 0 where none was measured. */
  readonly microseconds: number;
}

/** How much of something is inside, of how much. */
export interface Share {
  readonly inside: number;
  readonly total: number;
}

export const isInside = ({ partition }: DelegatedOp): boolean => partition >= 0;

/** The ops that compute tensors. */
export const opsOnTensors = ({ ops }: Delegation): DelegatedOp[] =>
  ops.filter(({ kind }) => kind === "tensor");

export const reasonOf = ({ reason }: DelegatedOp): string =>
  reason || "the backend reports no reason";

/** The ops outside by op and reason: the slowest first, then those of the most FLOPs. */
export function outsideBy(delegation: Delegation): Outside[] {
  const groups = new Map<string, DelegatedOp[]>();
  for (const op of opsOnTensors(delegation)) {
    if (!isInside(op))
      ensure(groups, `${op.op}\n${reasonOf(op)}`, () => [] as DelegatedOp[]).push(op);
  }
  const rows = [...groups.values()].map((ops) => ({
    op: ops[0]?.op ?? "",
    reason: ops[0] ? reasonOf(ops[0]) : "",
    ops,
    flops: sum(ops, ({ flops }) => flops ?? 0),
    microseconds: sum(ops, ({ microseconds }) => Math.max(microseconds, 0)),
  }));
  const rest = (a: Outside, b: Outside): number => b.flops - a.flops || b.ops.length - a.ops.length;
  return rows.sort((a, b) => b.microseconds - a.microseconds || rest(a, b));
}

/** Inside and outside by kind of op, those most often outside first. */
export function byKind(delegation: Delegation): (Share & { op: string; ops: DelegatedOp[] })[] {
  const kinds = new Map<string, DelegatedOp[]>();
  for (const op of opsOnTensors(delegation))
    ensure(kinds, op.op, () => [] as DelegatedOp[]).push(op);
  const rows = [...kinds].map(([op, ops]) => ({ op, ops, ...shareBy(ops, () => 1) }));
  const left = ({ inside, total }: Share): number => total - inside;
  return rows.sort((a, b) => left(b) - left(a) || b.total - a.total);
}

export function shareBy(ops: readonly DelegatedOp[], amount: (op: DelegatedOp) => number): Share {
  return { inside: sum(ops.filter(isInside), amount), total: sum(ops, amount) };
}

/**
 * The share of the profile's time in ops that are inside; null where none was measured. An op that
 * became several counts for each of them alike.
 */
export function timeShare(program: Program, delegation: Delegation): Share | null {
  const { profile } = program.record;
  if (!profile || delegation.is_stage) return null;
  const nodes = nodesByName(program);
  const parts = new Map<string, number>();
  const ops = opsOnTensors(delegation).filter(({ origin }) => nodes.has(origin));
  for (const { origin } of ops) parts.set(origin, (parts.get(origin) ?? 0) + 1);
  return shareBy(ops, ({ origin }) => {
    const took = profile.microseconds[nodes.get(origin) ?? -1] ?? 0;
    return Math.max(took, 0) / (parts.get(origin) ?? 1);
  });
}

/** The share of the lowered program's own time, where it was measured. */
export function measuredShare({ ops, partitions }: Delegation): Share | null {
  const inside = sum(partitions, ({ microseconds }) => Math.max(microseconds, 0));
  const total = inside + sum(ops, ({ microseconds }) => Math.max(microseconds, 0));
  return total > 0 ? { inside, total } : null;
}

const names = new WeakMap<Program, ReadonlyMap<string, number>>();

/** The nodes of the main graph by name. */
export function nodesByName(program: Program): ReadonlyMap<string, number> {
  return ensure(names, program, () => {
    const count = program.record.graphs[0]?.name.length ?? 0;
    return new Map(Array.from({ length: count }, (_, at) => [program.name(nodeId(0, at)), at]));
  });
}

const stageNames = new WeakMap<Program, ReadonlyMap<string, readonly NodeId[]>>();

/** The nodes of all graphs by name, those of the main graph first. */
function allByName(program: Program): ReadonlyMap<string, readonly NodeId[]> {
  return ensure(stageNames, program, () => {
    const found = new Map<string, NodeId[]>();
    for (const id of program.allNodes()) {
      ensure(found, program.name(id), () => [] as NodeId[]).push(id);
    }
    return found;
  });
}

/** The node on screen that an op is: its own in the lowered program, else the one it came from. */
export function nodeOfOp(program: Program, delegation: Delegation, op: DelegatedOp): NodeId {
  if (!delegation.is_stage) {
    const at = nodesByName(program).get(op.origin);
    return at === undefined ? -1 : nodeId(0, at);
  }
  const ids = allByName(program).get(op.name) ?? [];
  return (isInside(op) || op.graph ? ids.at(-1) : ids[0]) ?? -1;
}

export const nodesOfOps = (
  program: Program,
  delegation: Delegation,
  ops: readonly DelegatedOp[],
): NodeId[] => [
  ...new Set(ops.map((op) => nodeOfOp(program, delegation, op)).filter((id) => id >= 0)),
];

/** The nodes of the main graph that call ops of a table, by whether a backend takes them. */
export function verdictsOf(
  program: Program,
  { calls }: OpTable,
  answer: OpTable["answers"][number],
): { node: NodeId; taken: boolean | null; reason: string }[] {
  const nodes = nodesByName(program);
  const taken = new Set(answer.taken);
  return Object.values(calls).flatMap((callers) =>
    callers.flatMap((name) => {
      const at = nodes.get(name);
      if (at === undefined) return [];
      const isRefused = Object.hasOwn(answer.refused, name);
      const reason = isRefused ? (answer.refused[name] ?? "") : "";
      return [
        { node: nodeId(0, at), taken: taken.has(name) ? true : isRefused ? false : null, reason },
      ];
    }),
  );
}

function sum<T>(items: readonly T[], amount: (item: T) => number): number {
  let total = 0;
  for (const item of items) total += amount(item);
  return total;
}
