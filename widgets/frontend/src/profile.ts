/** The cost of ops, from a Record's profile: by kind of op, scope and line. Pure. */

import { shortPath } from "./format";
import { type NodeId, nodeId, type Program } from "./program";
import { bestFrame } from "./user_frames";

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

/**
 * Each op, by kind of op, by scope (with all that is in it), or by the innermost line of the
 * user's.
 */
export type GroupBy = "node" | "op" | "scope" | "line";

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
  if (by === "node") {
    const { path } = program.record.scopes[program.scope(node)] ?? { path: "" };
    return [[shortPath(path), program.name(node)].filter(Boolean).join(" · ")];
  }
  if (by === "op") return [program.target(node)?.name ?? program.op(node)];
  if (by === "line") {
    const frame = bestFrame(program, program.stack(node));
    return frame ? [`${program.record.files[frame.file]?.name}:${frame.line}`] : [];
  }
  const names = [];
  for (let at = program.scope(node); at >= 0; at = program.record.scopes[at]?.parent ?? -1) {
    const path = program.record.scopes[at]?.path;
    if (path) names.push(path);
  }
  return names;
}
