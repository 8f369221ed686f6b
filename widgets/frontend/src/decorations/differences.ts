/** How two programs that are compared differ. */

import { differing, markItems } from "../forest/differing";
import type { Item } from "../forest/items";
import type { NodeId } from "../program";
import type { Kind, Merged } from "../two_programs";
import type { Badge, Decoration, Gathered, Mark } from "./decoration";

const SIGNS: { [kind in Kind]: Badge & { text: string } } = {
  added: { sign: "+", colour: "var(--tx-good)", text: "Only in the program on screen" },
  removed: { sign: "−", colour: "var(--tx-danger)", text: "Only in the other program" },
  changed: { sign: "~", colour: "var(--tx-warn)", text: "Changed" },
};

export function differences(merged: Merged | undefined): Decoration | null {
  if (!merged || merged.kinds.size === 0) return null;
  const markOf = (kind: Kind, node: NodeId): Mark => {
    const { sign, colour } = SIGNS[kind];
    const notes = merged.notes.get(node)?.join(", ");
    return { badge: { sign, colour }, colour, note: [kind, notes].filter(Boolean).join(": ") };
  };
  const shown = new Set(merged.kinds.values());
  return {
    name: "differences",
    title: "Differences",
    noun: "difference",
    marks: new Map([...merged.kinds].map(([node, kind]) => [node, markOf(kind, node)])),
    legend: (Object.keys(SIGNS) as Kind[])
      .filter((kind) => shown.has(kind))
      .map((kind) => ({ badge: SIGNS[kind], colour: SIGNS[kind].colour, text: SIGNS[kind].text })),
    ofBoth: true,
    gather: (forest) => {
      const { kinds, inside } = markItems(forest, merged);
      const found = new Map<Item, Gathered>();
      for (const [item, count] of inside) {
        const note = differing(count);
        found.set(item, { colour: SIGNS.changed.colour, note, own: false });
      }
      for (const [item, kind] of kinds) found.set(item, { ...markOf(kind, item.node), own: true });
      return found;
    },
  };
}
