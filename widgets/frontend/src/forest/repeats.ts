/** Runs of identical scopes, such as the layers of a transformer, as one item with a count. */

import { ensure } from "../maps";
import type { NodeId, Program } from "../program";
import type { Forest, Item } from "./items";

const FEWEST = 3;

/**
 * Puts every run of at least three scopes of the same structure under an item of its own.
 *
 * @param apart whether an item must stay separate, whatever its structure
 */
export function stackRepeats(
  program: Program,
  forest: Forest,
  apart: (item: Item) => boolean,
): void {
  const isLike = comparer(program, forest);
  const visit = (item: Item): void => {
    if (item.children.length === 0) return;
    item.children.forEach(visit);
    item.children = grouped(item, isLike, apart);
  };
  visit(forest.root);
  forest.rearranged();
}

/** Tells whether two scopes have the same structure: the same ops, wired the same way. */
function comparer(program: Program, forest: Forest): (one: Item, other: Item) => boolean {
  const shapes = new Map<Item, number>();
  const numbers = new Map<string, number>();
  const { items } = forest; // as they are before neighbours are gathered
  const shape = (item: Item): number =>
    ensure(shapes, item, () => {
      const children = item.children.length > 0 ? item.children.map(shape).join(" ") : "";
      return ensure(numbers, `${structure(item)}|${children}`, () => numbers.size);
    });
  return (one, other) =>
    one.ops === other.ops &&
    one.children.length === other.children.length &&
    one.end - one.at === other.end - other.at &&
    shape(one) === shape(other) &&
    isWiredAlike(program, forest, items, one, other);
}

/** The key of an item without its children: kind, op, sizes of parameters, but no names. */
function structure(item: Item): string {
  const held = item.held.length > 0 ? item.held.map((each) => each.size).join(",") : "";
  const isNamed = item.kind === "scope" || item.kind === "parameter"; // by its user, not its kind
  return `${item.kind}|${isNamed ? item.subtitle : item.title}|${held}`;
}

/** Whether the ops inside two scopes of one structure read each other in the same way. */
function isWiredAlike(
  program: Program,
  forest: Forest,
  items: readonly Item[],
  one: Item,
  other: Item,
): boolean {
  for (let step = 0; step < one.end - one.at; step++) {
    const [first, second] = [items[one.at + step] as Item, items[other.at + step] as Item];
    if (first.node < 0 && second.node < 0) continue;
    if (first.node < 0 || second.node < 0) return false;
    const [reads, others] = [program.inputsOf(first.node), program.inputsOf(second.node)];
    if (reads.length !== others.length) return false;
    for (const [at, read] of reads.entries()) {
      const same = stepOf(forest, one, first, read);
      if (same !== stepOf(forest, other, second, others[at] as number)) return false;
    }
  }
  return true;
}

const OUTSIDE = -1;
const HELD = -2;

/** The place in a scope of a value that an item of it reads. */
function stepOf(forest: Forest, scope: Item, { held }: Item, read: NodeId): number {
  if (held.length > 0 && held.some((each) => each.node === read)) return HELD;
  const place = forest.itemOf.get(read)?.at ?? OUTSIDE;
  return place >= scope.at && place < scope.end ? place - scope.at : OUTSIDE;
}

function grouped(
  parent: Item,
  isLike: (one: Item, other: Item) => boolean,
  apart: (item: Item) => boolean,
): Item[] {
  const result: Item[] = [];
  let run: Item[] = [];
  const close = (): void => {
    const first = run[0];
    if (first && run.length >= FEWEST) result.push(repeat(parent, run, first));
    else result.push(...run);
    run = [];
  };
  for (const child of parent.children) {
    const last = run.at(-1);
    const eligible = child.kind === "scope" && child.children.length > 0 && !apart(child);
    if (last && !(eligible && isLike(last, child))) close();
    if (eligible) run.push(child);
    else result.push(child);
  }
  close();
  return result;
}

function repeat(parent: Item, run: Item[], first: Item): Item {
  const last = run.at(-1) ?? first;
  const item: Item = {
    ...first,
    key: `${first.key}×${run.length}`,
    kind: "repeat",
    title: `${first.title} … ${tail(last.title)}`,
    subtitle: `${first.subtitle} ×${run.length}`,
    scope: -1,
    held: [],
    parent,
    children: run,
    ops: run.reduce((sum, each) => sum + each.ops, 0),
    end: last.end,
  };
  for (const each of run) each.parent = item;
  return item;
}

/** The part of a scope's name that counts: the `31` of `layers.31`. */
const tail = (title: string): string => title.split(".").at(-1) ?? title;
