/** The user's own marks on nodes: numbers to colour by, strings, colours. */

import { capped, numberText } from "../format";
import { nodeId, type Program } from "../program";
import type { Overlay } from "../record.gen";
import type { Badge, Decoration, Mark } from "./decoration";

const NOTED: Badge = { sign: "✎", colour: "var(--tx-muted)" };
const COLOUR = /^#[\da-f]{6}$/i;
const MOST_COLOURS = 12;

/** One decoration per overlay. */
export function overlays({ record }: Program): Decoration[] {
  const nodes = record.graphs.reduce((sum, { name }) => sum + name.length, 0);
  return record.overlays.map((overlay, number) => {
    const isBadged = overlay.nodes.length <= nodes / 2; // a badge on most boxes tells none apart
    return {
      name: `overlay-${number}`,
      title: capped(overlay.name, 60),
      noun: "op",
      marks: new Map(
        overlay.nodes.map((node, at) => [
          nodeId(overlay.graphs[at] ?? 0, node),
          markOf(overlay, at, isBadged),
        ]),
      ),
      legend: legendOf(overlay, isBadged),
      ...(overlay.kind === "number" && {
        measure: { colour: "var(--tx-heat)", text: numberText },
      }),
    };
  });
}

function markOf({ name, kind, numbers, texts }: Overlay, at: number, isBadged: boolean): Mark {
  const text = texts[at] ?? "";
  switch (kind) {
    case "number":
      return { amount: numbers[at] ?? 0, most: true };
    case "colour":
      return COLOUR.test(text) ? { colour: text, note: name } : { note: name };
    case "text":
      return { ...(isBadged && { badge: NOTED }), note: text };
  }
}

function legendOf({ name, kind, texts }: Overlay, isBadged: boolean): Decoration["legend"] {
  if (kind === "text") return isBadged ? [{ badge: NOTED, text: name }] : [];
  if (kind === "number") return [];
  const colours = [...new Set(texts)].filter((text) => COLOUR.test(text)).slice(0, MOST_COLOURS);
  const alone = colours.length === 1;
  return colours.map((colour) => ({ colour, text: alone ? name : `${name}: ${colour}` }));
}
