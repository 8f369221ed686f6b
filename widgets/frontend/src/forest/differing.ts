/** Where in a tree of items two programs differ. Pure. */

import { counted } from "../format";
import type { NodeId } from "../program";
import type { Kind, Merged } from "../two_programs";
import type { Forest, Item } from "./items";

export interface Marked {
  /** Items that are changed, new or gone; a container only where all in it is. */
  kinds: ReadonlyMap<Item, Kind>;
  /** Per container, how many differences are in it. */
  inside: ReadonlyMap<Item, number>;
  /** Those of them that each side has. */
  insideOf: ReadonlyMap<Item, Sides>;
  /** Per container with ops of one side only, how many ops each side has in it. */
  ops: ReadonlyMap<Item, Sides>;
}

export interface Sides {
  before: number;
  after: number;
}

/** `2 nodes differ`: a comparison's differences may be of several nodes each. */
export const differing = (nodes: number): string =>
  `${counted(nodes, "node")} ${nodes === 1 ? "differs" : "differ"}`;

export function markItems(forest: Forest, { kinds }: Merged): Marked {
  const found = new Map<Item, Kind>();
  const inside = new Map<Item, number>();
  for (const [id, kind] of kinds) {
    const item = forest.itemOf.get(id);
    if (!item) continue;
    // A weight or a result that is folded into an op: the op is there on both sides.
    found.set(item, item.node === id ? kind : (found.get(item) ?? "changed"));
  }
  const insideOf = new Map<Item, Sides>();
  const visit = (item: Item): { all: number } & Sides => {
    const kind = found.get(item);
    const total = { all: 0, before: 0, after: 0 };
    for (const child of item.children.map(visit)) {
      total.all += child.all;
      total.before += child.before;
      total.after += child.after;
    }
    if (total.all > 0) {
      inside.set(item, total.all);
      insideOf.set(item, { before: total.before, after: total.after });
    }
    const common = !kind && item.parent ? commonKind(item.children, found) : null;
    if (common) found.set(item, common);
    if (kind) total.all += 1;
    if (kind && kind !== "added") total.before += 1;
    if (kind && kind !== "removed") total.after += 1;
    return total;
  };
  visit(forest.root);
  const ops = new Map<Item, Sides>();
  countSides(forest.root, found, ops);
  return { kinds: found, inside, insideOf, ops };
}

/** The ops of an item in each program; those of containers that differ are kept. */
function countSides(item: Item, kinds: ReadonlyMap<Item, Kind>, kept: Map<Item, Sides>): Sides {
  const kind = kinds.get(item);
  if (kind === "added") return { before: 0, after: item.ops };
  if (kind === "removed") return { before: item.ops, after: 0 };
  const sides = { before: item.ops, after: item.ops };
  for (const child of item.children) {
    const { before, after } = countSides(child, kinds, kept);
    sides.before -= child.ops - before;
    sides.after -= child.ops - after;
  }
  if (sides.before < item.ops || sides.after < item.ops) kept.set(item, sides);
  return sides;
}

/** The kind that all of some items have, where they are on one side only. */
function commonKind(items: readonly Item[], kinds: ReadonlyMap<Item, Kind>): Kind | null {
  const kind = items[0] && kinds.get(items[0]);
  if (!kind || kind === "changed") return null;
  return items.every((item) => kinds.get(item) === kind) ? kind : null;
}

/** Differences, with their inputs and users: the rest only repeats both programs. */
export function surroundings({ kinds, program }: Merged): ReadonlySet<NodeId> {
  const found = new Set<NodeId>();
  for (const id of kinds.keys()) {
    for (const each of [id, ...program.inputsOf(id), ...program.usersOf(id)]) found.add(each);
  }
  return found;
}
