/** Ops whose result nobody uses. */

import type { NodeId, Program } from "../program";
import type { Badge, Decoration, Mark } from "./decoration";

const UNUSED: Badge = { sign: "∅", colour: "var(--tx-muted)" };

export function unused(program: Program): Decoration | null {
  const marks = new Map<NodeId, Mark>();
  for (const id of program.allNodes()) {
    if (isUnused(program, id)) marks.set(id, { badge: UNUSED, note: "Its result is unused." });
  }
  if (marks.size === 0) return null;
  return {
    name: "unused",
    title: "Unused",
    noun: "op",
    marks,
    legend: [{ badge: UNUSED, text: "Its result is unused" }],
  };
}

/** Not of an op that is there for what it does: it writes, checks, or gives nothing back. */
function isUnused(program: Program, id: NodeId): boolean {
  if (program.op(id) !== "call_function" || program.usersOf(id).length > 0) return false;
  const target = program.target(id);
  if (!target || target.label === "getitem" || program.isHousekeeping(id)) return false;
  const gives = target.schema !== "" && !/-> \(\)$/.test(target.schema);
  return gives && target.mutates.length === 0 && target.kind === "aten";
}
