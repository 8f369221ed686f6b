/** What ops cost, by a Record's profile: of nodes, lines and scopes. Pure. */

import { bytesText, durationText, shareText } from "./format";
import type { Heat } from "./looking";
import { graphOf, indexOf, type NodeId, nodeId, type Program } from "./program";
import type { Profile } from "./record.gen";

/** Per node of the main graph, what it costs; negative for what does not count. */
export type Costs = readonly number[];

/** The costs that are to be shown; null where there are none. The same list each time. */
export function costsOf(program: Program, heat: Heat): Costs | null {
  const { profile } = program.record;
  if (!profile || heat === "none") return null;
  return heat === "time" ? profile.microseconds : profile.bytes;
}

/** What some nodes cost together. A nested graph is part of the op that runs it. */
export function costOf(costs: Costs, nodes: Iterable<NodeId>): number {
  let total = 0;
  for (const node of nodes) {
    if (graphOf(node) === 0) total += Math.max(costs[indexOf(node)] ?? 0, 0);
  }
  return total;
}

/** `1.2 ms, 34 % of the time; makes 4.2 MB`; empty where nothing was measured of them. */
export function costText(program: Program, nodes: readonly NodeId[]): string {
  const { profile } = program.record;
  if (!profile || !nodes.some((node) => isMeasured(profile, node))) return "";
  const time = costOf(profile.microseconds, nodes);
  const bytes = costOf(profile.bytes, nodes);
  const share = shareText(time / Math.max(profile.total, 1e-9));
  return `${durationText(time / 1e6)}, ${share} of the time; makes ${bytesText(bytes)}`;
}

function isMeasured(profile: Profile, node: NodeId): boolean {
  return graphOf(node) === 0 && (profile.microseconds[indexOf(node)] ?? -1) >= 0;
}

/** The background of something that costs so much of what the dearest does: 0 to 1. */
export function heatColour(share: number): string {
  return `color-mix(in srgb, var(--tx-heat) ${Math.round(55 * Math.sqrt(share))}%, transparent)`;
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
