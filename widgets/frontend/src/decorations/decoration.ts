/**
 * Decorations of nodes: badges, colours, notes, and their entry in the legend. Each source of facts
 * about nodes provides a Decoration; graph, outline, inspector, minimap and legend show them all
 * alike, without knowing any of them. Pure.
 */

import type { Forest, Item } from "../forest/items";
import { counted } from "../format";
import { ensure } from "../maps";
import type { NodeId } from "../program";

/** A sign of a character or two, in a colour of CSS. */
export interface Badge {
  sign: string;
  colour: string;
}

/** The marks of a node, or of several together. */
export interface Mark {
  badge?: Badge;
  /** The colour of the whole box, in CSS: `var(--tx-good)`, `#1a64c4`. */
  colour?: string;
  /** In words. */
  note?: string;
  /** How much of what the decoration measures. Some together have the sum. */
  amount?: number;
  /** Whether some together have the largest amount instead. */
  most?: boolean;
  /** Of some together, the mark of the highest rank is shown. */
  rank?: number;
  /** How many marks are in this one; 1 if missing. */
  count?: number;
}

export interface LegendEntry {
  badge?: Badge;
  colour?: string;
  text: string;
}

/** How amounts are written, and the colour of the largest one. */
export interface Measure {
  colour: string;
  text: (amount: number) => string;
}

export interface Decoration {
  /** By which it is chosen and remembered: `time`. */
  name: string;
  /** Heads it in the legend and in the inspector. */
  title: string;
  /** The noun to count marks by: `finding`. */
  noun: string;
  marks: ReadonlyMap<NodeId, Mark>;
  /** The meaning of its badges and colours. */
  legend: readonly LegendEntry[];
  /** Of one that colours by amounts. */
  measure?: Measure;
  /** Whether it colours every op without amounts: it is then shown only if chosen. */
  colours?: boolean;
  /** Whether it is of both programs of a comparison, and not of that on screen alone. */
  ofBoth?: boolean;
  /** The marks of items; by default, those of the nodes in them. */
  gather?: (forest: Forest) => GatheredMarks;
}

/** The marks of items: one is made where it is asked for. */
export type GatheredMarks = Pick<ReadonlyMap<Item, Gathered>, "get"> &
  Iterable<readonly [Item, Gathered]>;

/** The mark of an item of a tree. */
export interface Gathered extends Mark {
  /** Whether the item itself is marked, and not only something in it. */
  own: boolean;
}

/** Two marks merged into one. */
export function together(one: Mark, other: Mark): Mark {
  const shown = (other.rank ?? 0) > (one.rank ?? 0) ? other : one;
  const mark: Mark = { ...shown, count: (one.count ?? 1) + (other.count ?? 1) };
  if (one.amount !== undefined || other.amount !== undefined) {
    const amounts = [one.amount ?? 0, other.amount ?? 0] as const;
    mark.amount = one.most || other.most ? Math.max(...amounts) : amounts[0] + amounts[1];
  }
  return mark;
}

/** The marks of nodes, of which some may be named again. */
export function marksOfNodes(entries: Iterable<readonly [NodeId, Mark]>): Map<NodeId, Mark> {
  const marks = new Map<NodeId, Mark>();
  for (const [node, mark] of entries) {
    const known = marks.get(node);
    marks.set(node, known ? together(known, mark) : mark);
  }
  return marks;
}

/** The merged mark of some nodes; null if none is marked. */
export function markOf(decoration: Decoration, nodes: Iterable<NodeId>): Mark | null {
  let found: Mark | null = null;
  for (const node of nodes) {
    const mark = decoration.marks.get(node);
    if (mark) found = found ? together(found, mark) : mark;
  }
  return found;
}

/** A mark in words; empty for one that says nothing. */
export function noteOf({ measure, noun }: Decoration, mark: Mark): string {
  if (measure && mark.amount !== undefined) return measure.text(mark.amount);
  const { count = 1, note = "" } = mark;
  if (count === 1) return note;
  return [counted(count, noun), note].filter(Boolean).join(": ");
}

const known = new WeakMap<Decoration, WeakMap<Forest, GatheredMarks>>();

/** The marks of all items of a forest. Computed once. */
export function gathered(decoration: Decoration, forest: Forest): GatheredMarks {
  const forests = ensure(known, decoration, () => new WeakMap<Forest, GatheredMarks>());
  return ensure(
    forests,
    forest,
    () => decoration.gather?.(forest) ?? gatherMarks(decoration, forest),
  );
}

function gatherMarks({ marks }: Decoration, forest: Forest): Map<Item, Gathered> {
  const found = new Map<Item, Gathered>();
  const add = (item: Item, mark: Mark, own: boolean): void => {
    const before = found.get(item);
    found.set(
      item,
      before ? { ...together(before, mark), own: before.own || own } : { ...mark, own },
    );
  };
  for (const [node, mark] of marks) {
    const own = forest.itemOf.get(node);
    for (let item: Item | null = own ?? null; item?.parent; item = item.parent) {
      add(item, mark, item === own);
    }
  }
  return found;
}
