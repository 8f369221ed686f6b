/** Where the program is wrong: broken guarantees, runs that differ. */

import { nodeId, type Program } from "../program";
import { type Badge, type Decoration, marksOfNodes } from "./decoration";

const BROKEN: Badge = { sign: "✗", colour: "var(--tx-danger)" };
const DIFFERS: Badge = { sign: "≠", colour: "var(--tx-danger)" };

export function verification({ record }: Program): Decoration | null {
  const rows = record.verification?.rows ?? [];
  const broken = rows.filter(({ node, verdict }) => node >= 0 && verdict === "broken");
  if (broken.length === 0) return null;
  return {
    name: "verification",
    title: "Verify",
    noun: "broken guarantee",
    marks: marksOfNodes(
      broken.map(({ node, sentence }) => [nodeId(0, node), { badge: BROKEN, note: sentence }]),
    ),
    legend: [{ badge: BROKEN, text: "Op with a broken guarantee" }],
  };
}

export function runs({ record }: Program): Decoration | null {
  const placed = record.runs.filter(({ node, outcome }) => node >= 0 && outcome !== "agrees");
  if (placed.length === 0) return null;
  return {
    name: "runs",
    title: "Runs",
    noun: "run",
    marks: marksOfNodes(
      placed.map(({ node, title, device, sentence }) => {
        const note = `${title} on ${device}: ${sentence}`;
        return [nodeId(0, node), { badge: DIFFERS, note }] as const;
      }),
    ),
    legend: [{ badge: DIFFERS, text: "First op that differs or fails in a run" }],
  };
}
