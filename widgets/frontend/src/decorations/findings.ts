/** Where an export that succeeded is wrong or surprising. */

import { nodeId, type Program } from "../program";
import type { FindingRow } from "../record.gen";
import { type Badge, type Decoration, marksOfNodes } from "./decoration";

const BADGES: { [severity in FindingRow["severity"]]: Badge & { rank: number; text: string } } = {
  wrong: { sign: "!", colour: "var(--tx-danger)", rank: 3, text: "Finding: wrong" },
  surprising: { sign: "!", colour: "var(--tx-warn)", rank: 2, text: "Finding: surprising" },
  note: { sign: "i", colour: "var(--tx-muted)", rank: 1, text: "Finding: worth knowing" },
};

export function findings({ record }: Program): Decoration | null {
  const placed = record.findings.filter(({ node }) => node >= 0);
  if (placed.length === 0) return null;
  const severities = new Set(placed.map(({ severity }) => severity));
  const all = Object.keys(BADGES) as FindingRow["severity"][];
  return {
    name: "findings",
    title: "Findings",
    noun: "finding",
    marks: marksOfNodes(
      placed.map(({ node, severity, heading, sentence }) => {
        const { sign, colour, rank } = BADGES[severity];
        const note = `${heading}. ${sentence}`;
        return [nodeId(0, node), { badge: { sign, colour }, rank, note }] as const;
      }),
    ),
    legend: all
      .filter((severity) => severities.has(severity))
      .map((severity) => ({ badge: BADGES[severity], text: BADGES[severity].text })),
  };
}
