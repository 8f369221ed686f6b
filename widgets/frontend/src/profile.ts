/** What ops cost, by a Record's profile: by kind of op, scope and line. Pure. */

import { type NodeId, nodeId, type Program } from "./program";

/** Per node of the main graph, what it costs; negative for what does not count. */
export type Costs = readonly number[];

/** The background of a line that has so much of the most: 0 to 1. */
export function heatColour(share: number): string {
  return `color-mix(in srgb, var(--tx-heat) ${Math.round(45 * Math.sqrt(share))}%, transparent)`;
}

/** Something that nodes belong to, and what they cost together. */
export interface Total {
  name: string;
  nodes: NodeId[];
  cost: number;
}

/** By kind of op, by scope (with all that is in it), or by the line of the innermost call. */
export type GroupBy = "op" | "scope" | "line";

/** The totals, the dearest first. */
export function totalsBy(program: Program, costs: Costs, by: GroupBy): Total[] {
  const totals = new Map<string, Total>();
  costs.forEach((cost, index) => {
    const node = nodeId(0, index);
    if (cost < 0) return;
    for (const name of namesOf(program, node, by)) {
      const total = totals.get(name) ?? { name, nodes: [], cost: 0 };
      total.nodes.push(node);
      total.cost += cost;
      totals.set(name, total);
    }
  });
  return [...totals.values()].sort((a, b) => b.cost - a.cost);
}

function namesOf(program: Program, node: NodeId, by: GroupBy): string[] {
  if (by === "op") return [program.target(node)?.name ?? program.op(node)];
  if (by === "line") {
    const frame = program.stack(node).at(-1);
    return frame ? [`${program.record.files[frame.file]?.name}:${frame.line}`] : [];
  }
  const names = [];
  for (let at = program.scope(node); at >= 0; at = program.record.scopes[at]?.parent ?? -1) {
    const path = program.record.scopes[at]?.path;
    if (path) names.push(path);
  }
  return names;
}
