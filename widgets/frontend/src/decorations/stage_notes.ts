/** Notes of the last compilation: ops that it removed, and kernels with unexpected work. */

import { type NodeId, nodeId, type Program } from "../program";
import { type Decoration, type Mark, marksOfNodes } from "./decoration";

const REMOVED = { sign: "−", colour: "var(--tx-muted)" };
const REMARK = { sign: "◆", colour: "var(--tx-warn)" };

export function stageNotes(program: Program): Decoration | null {
  const stages = program.record.stages.at(-1);
  if (!stages) return null;
  const entries: [NodeId, Mark][] = [...stages.removed].map((node) => [
    nodeId(0, node),
    {
      badge: REMOVED,
      note: "The compiler removed it: no op of the post-grad graph comes from it.",
    },
  ]);
  for (const { kernel, lines, text } of stages.remarks) {
    const places = lines.flatMap((line) => stages.lines[line] ?? []);
    const caused = new Set(places.flatMap(({ file, line }) => [...program.nodesAt(file, line)]));
    for (const node of stages.kernels[kernel]?.nodes ?? []) {
      const id = nodeId(0, node);
      if (caused.has(id)) entries.push([id, { badge: REMARK, note: text, rank: 1 }]);
    }
  }
  const counts = new Map<NodeId, number>();
  for (const { nodes } of stages.kernels) {
    for (const node of nodes) counts.set(nodeId(0, node), (counts.get(nodeId(0, node)) ?? 0) + 1);
  }
  for (const [id, count] of counts) {
    if (count > 1) entries.push([id, { note: `It is computed in ${count} kernels.` }]);
  }
  if (entries.length === 0) return null;
  const shown = [
    { badge: REMOVED, text: "Removed by the compiler" },
    { badge: REMARK, text: "Worth a look in Stages" },
  ];
  return {
    name: "stages",
    title: "Stages",
    noun: "note",
    marks: marksOfNodes(entries),
    legend: shown.filter(({ badge }) => entries.some(([, mark]) => mark.badge === badge)),
  };
}
