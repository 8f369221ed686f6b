/** A diff as a list of what to look at, in the order of the program. Pure. */

import { type NodeId, nodeId, type Program } from "../program";
import type { Change, Difference, ProgramDiff } from "../record.gen";

export interface Entry {
  kind: "changed" | "added" | "removed";
  /** In the program on screen; null for what was removed. */
  after: NodeId | null;
  /** In the program before; null for what was added. */
  before: NodeId | null;
  changes: Change[];
  /** Why two nodes are taken for the same; empty for what has no partner. */
  why: string;
}

/** Every node that differs in itself; what only follows from another change is left out. */
export function entriesOf(diff: ProgramDiff): Entry[] {
  return diff.graphs.flatMap(({ before, after, pairs, removed, added }) => {
    const changed = pairs
      .filter((pair) => pair.changes.some((change) => !change.follows))
      .map(
        (pair): Entry => ({
          kind: "changed",
          before: nodeId(before, pair.before),
          after: nodeId(after, pair.after),
          changes: pair.changes.filter((change) => !change.follows),
          why: pair.why,
        }),
      );
    const lone = (kind: "added" | "removed", node: number): Entry => ({
      kind,
      before: kind === "removed" ? nodeId(before, node) : null,
      after: kind === "added" ? nodeId(after, node) : null,
      changes: [],
      why: "",
    });
    return [
      ...changed,
      ...removed.map((node) => lone("removed", node)),
      ...added.map((node) => lone("added", node)),
    ];
  });
}

/** The nodes of the program on screen that are changed or new. */
export function nodesOf(entries: readonly Entry[]): NodeId[] {
  return entries.flatMap((entry) => (entry.after === null ? [] : [entry.after]));
}

/** `2 changed, 1 added, none removed`. */
export function summaryOf(entries: readonly Entry[], others: readonly Difference[]): string {
  const count = (kind: Entry["kind"]): number =>
    entries.filter((entry) => entry.kind === kind).length;
  if (entries.length + others.length === 0) return "Identical up to names.";
  const parts = [`${count("changed")} changed`, `${count("added")} added`];
  parts.push(`${count("removed")} removed`);
  if (others.length > 0) parts.push(`${others.length} outside of the graph`);
  return `${parts.join(", ")}.`;
}

/** A node's op and module, in the program that it is in. */
export function titleOf(program: Program, node: NodeId): string {
  const target = program.target(node)?.name ?? program.op(node);
  const scope = program.record.scopes[program.scope(node)]?.path ?? "";
  return scope ? `${target} in ${scope}` : target;
}
