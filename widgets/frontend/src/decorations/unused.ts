/** Ops whose result nobody uses. */

import { type NodeId, nodeId, type Program } from "../program";
import type { Badge, Decoration, Mark } from "./decoration";

const UNUSED: Badge = { sign: "∅", colour: "var(--tx-muted)" };

export function unused(program: Program): Decoration | null {
  const marks = new Map<NodeId, Mark>();
  program.record.graphs.forEach((graph, at) => {
    // By the columns alone: there may be 100,000 nodes, and the first picture waits.
    const isRead = new Uint8Array(graph.name.length);
    for (const node of graph.inputs.items) isRead[node] = 1;
    isRead.forEach((read, index) => {
      const id = nodeId(at, index);
      if (read || !isForItsResult(program, id)) return;
      marks.set(id, { badge: UNUSED, note: "Its result is unused." });
    });
  });
  if (marks.size === 0) return null;
  return {
    name: "unused",
    title: "Unused",
    noun: "op",
    marks,
    legend: [{ badge: UNUSED, text: "Its result is unused" }],
  };
}

/** Whether an op only serves for its result: it writes nothing and checks nothing. */
function isForItsResult(program: Program, id: NodeId): boolean {
  if (program.op(id) !== "call_function") return false;
  const target = program.target(id);
  if (!target || target.label === "getitem" || program.isHousekeeping(id)) return false;
  const gives = target.schema !== "" && !/-> \(\)$/.test(target.schema);
  return gives && target.mutates.length === 0 && target.kind === "aten";
}
