/** Which items of a program are drawn under the view's options, before layout. Pure. */

import { differing, type Marked, markItems, type Sides } from "../forest/differing";
import type { Options } from "../forest/forest";
import type { Forest, Item } from "../forest/items";
import { forestOf, gatheredForest } from "../forest/program_forest";
import { counted, grouped } from "../format";
import { ensure } from "../maps";
import { type NodeId, nodeId, type Program } from "../program";
import type { Merged } from "../two_programs";
import { bestFrame } from "../user_frames";
import { commonDtype } from "./labels";
import { Links } from "./links";

export interface Drawing {
  program: Program;
  forest: Forest;
  links: Links;
  /** The dtype that labels leave out. */
  dtype: string;
  /** Where two programs differ, of which this is both; null for one alone. */
  marked: Marked | null;
  /** The item that the first view must show: where a trace ended, or two programs diverge. */
  sought: Item | null;
  /** Extra notes on an item. */
  notes: (item: Item) => readonly string[];
  /** How many ops are in an item; of two programs in each, if that differs: `12 → 30 ops`. */
  ops: (item: Item) => string;
  /** Each of two programs on its own; null for a single one. */
  sides: { before: Side; after: Side } | null;
}

/** A box in one of two programs, whose names, settings and counts may differ. */
export interface Side {
  program: Program;
  itemOf: (item: Item) => Item | null;
  /** A node's number there; undefined for one that only the other has. */
  nodeOf: (node: NodeId) => NodeId | undefined;
  /** Differences in an item, and how many ops it has there. */
  notes: (item: Item) => readonly string[];
  ops: (item: Item) => string;
}

export function drawingOf(program: Program, options: Omit<Options, "only">): Drawing {
  return drawn(program, forestOf(program, options), null, options);
}

/** Two programs in one drawing; layers that differ are not folded into a run. */
export function drawingOfBoth(merged: Merged, options: Options): Drawing {
  const forest = gatheredForest(merged.program, options, (bare) => {
    const differing = markItems(bare, merged);
    return (item) => differing.inside.has(item);
  });
  return drawn(merged.program, forest, merged, options);
}

/** A container is what the same node of both is in, so many levels above it, and as deep. */
function itemIn(
  program: Program,
  options: Omit<Options, "only">,
  nodeOf: Side["nodeOf"],
): Side["itemOf"] {
  return (item) => {
    const { itemOf } = forestOf(program, options); // made when a box is first painted
    let leaf: Item | undefined = item;
    let levels = 0;
    while (leaf && leaf.node < 0) {
      leaf = leaf.children.find(
        ({ children, node }) => children.length > 0 || nodeOf(node) !== undefined,
      );
      levels += 1;
    }
    let twin: Item | null = itemOf.get(nodeOf(leaf?.node ?? -1) ?? -1) ?? null;
    for (; twin && levels > 0; levels -= 1) twin = twin.parent;
    const alike = twin?.kind === item.kind && (item.node >= 0 || depth(twin) === depth(item));
    return alike ? twin : null;
  };
}

const depth = ({ parent }: Item): number => (parent ? 1 + depth(parent) : 0);

function drawn(
  program: Program,
  forest: Forest,
  merged: Merged | null,
  options: Omit<Options, "only">,
): Drawing {
  const marked = merged && markItems(forest, merged);
  const links = new Links(program, forest, merged?.sidesOf);
  const notes = (item: Item): readonly string[] => [
    ...(merged?.notes.get(item.node) ?? []),
    ...inWords(marked?.inside.get(item) ?? 0),
  ];
  const ops = (item: Item): string => {
    const { before, after } = marked?.ops.get(item) ?? { before: item.ops, after: item.ops };
    return before === after ? counted(after, "op") : `${grouped(before)} → ${counted(after, "op")}`;
  };
  const dtype = commonDtype(program);
  const sought = marked ? firstOf(marked) : whereItEnded(program, forest);
  const sides = merged && marked && sidesOf(merged, marked, options);
  return { program, forest, links, dtype, marked, sought, notes, ops, sides };
}

function sidesOf(merged: Merged, marked: Marked, options: Omit<Options, "only">): Drawing["sides"] {
  const { after, before, removed, twins } = merged;
  const side = (key: keyof Sides, program: Program, nodeOf: Side["nodeOf"]): Side => ({
    program,
    itemOf: itemIn(program, options, nodeOf),
    nodeOf,
    notes: (item) => [
      ...(key === "after" ? (merged.notes.get(item.node) ?? []) : []),
      ...inWords(marked.insideOf.get(item)?.[key] ?? 0),
    ],
    ops: (item) => counted(marked.ops.get(item)?.[key] ?? item.ops, "op"),
  });
  return {
    before: side("before", before, (node) => twins.get(node) ?? removed.get(node)),
    after: side("after", after, (node) => (removed.has(node) ? undefined : node)),
  };
}

/** The first item that differs. */
function firstOf({ kinds }: Marked): Item | null {
  let first: Item | null = null;
  for (const item of kinds.keys()) if (!first || item.at < first.at) first = item;
  return first;
}

/**
 * The last op that the failing line made, or the last of all where tracing came to no output; none
 * of a program that was exported.
 */
function whereItEnded(program: Program, forest: Forest): Item | null {
  const { failure } = program.record;
  if (!failure) return null;
  const place = bestFrame(program, program.stackAt(failure.stack));
  const made = place ? program.nodesAt(place.file, place.line) : [];
  return lastDrawn(made, forest) ?? lastDrawn(unended(program), forest);
}

/** All nodes of the main graph, if it has no output. */
function unended(program: Program): NodeId[] {
  const all = Array.from(program.record.graphs[0]?.name ?? [], (_, node) => nodeId(0, node));
  return all.some((node) => program.op(node) === "output") ? [] : all;
}

function lastDrawn(nodes: readonly NodeId[], forest: Forest): Item | null {
  const last = nodes.findLast((node) => forest.itemOf.has(node));
  return last === undefined ? null : (forest.itemOf.get(last) ?? null);
}

const inWords = (differences: number): string[] =>
  differences > 0 ? [differing(differences)] : [];

/** The initial view opens scopes only up to this many boxes. */
const MOST_AT_FIRST = 24;
/** Layers with this share of the ops of what they are in are its body. */
const MOST_OF_IT = 0.6;
/** For numbered layers less is enough: a model of one layer also has a mask and a head. */
const THIRD_OF_IT = 1 / 3;
/** A scope with this share is searched for layers: an encoder next to its decoder. */
const MUCH_OF_IT = 0.2;
/** This many modules of one class are stages, whatever they are called. */
const FEWEST = 3;

/** An item of a ModuleList or of a Sequential: `layers.0`, `0`. */
const isNumbered = ({ title }: Item): boolean => /(^|\.)\d+$/.test(title);

/** Whether most of an item is layers: a run of them, numbered modules, or modules of one class. */
function holdsLayers({ children, ops }: Item): boolean {
  let numbered = 0;
  const byClass = new Map<string, { count: number; ops: number }>();
  for (const each of children) {
    if (each.kind === "repeat") numbered += each.ops;
    if (each.kind !== "scope") continue;
    if (isNumbered(each)) numbered += each.ops;
    const alike = ensure(byClass, each.subtitle, () => ({ count: 0, ops: 0 }));
    alike.count += 1;
    alike.ops += each.ops;
  }
  if (numbered > THIRD_OF_IT * ops) return true;
  return [...byClass.values()].some(
    (alike) => alike.count >= FEWEST && alike.ops > MOST_OF_IT * ops,
  );
}

/** The scopes to open, from an item on, to show its layers; none if it has none. */
function wayToLayers(item: Item): Item[] {
  if (holdsLayers(item)) return [item];
  const inner = waysInto(item).flat();
  return inner.length > 0 ? [item, ...inner] : [];
}

const waysInto = ({ children, ops }: Item): Item[][] =>
  children
    .filter((each) => each.kind === "scope" && each.ops > MUCH_OF_IT * ops)
    .map(wayToLayers)
    .filter((way) => way.length > 0);

/**
 * What is open initially: scopes without siblings, which saves a click, and the scopes around
 * layers, as long as the view stays small.
 *
 * @returns all of that; then less and less of it, for a view in which it is not legible
 */
export function firstOpen(forest: Forest): ReadonlySet<string>[] {
  const open: Item[] = [];
  let body = forest.root;
  for (;;) {
    const inner = body.children.filter(({ kind }) => kind !== "input" && kind !== "output");
    const [only] = inner;
    if (inner.length !== 1 || only?.kind !== "scope") break;
    open.push(only);
    body = only;
  }
  const around: Item[] = [];
  if (!holdsLayers(body)) {
    const shown = [forest.root, ...open].reduce((sum, each) => sum + each.children.length, 0);
    const inside = waysInto(body).flat();
    const boxes = inside.reduce((sum, each) => sum + each.children.length, shown);
    if (boxes <= MOST_AT_FIRST) around.push(...inside);
  }
  const levels = [...new Set(around.map(depthOf))].sort((a, b) => b - a);
  return [Number.POSITIVE_INFINITY, ...levels].map((deepest) => {
    const kept = around.filter((each) => depthOf(each) < deepest);
    return new Set([...open, ...kept].map(({ key }) => key));
  });
}

/** How many items an item is in. */
function depthOf(item: Item): number {
  let depth = 0;
  for (let at = item.parent; at; at = at.parent) depth += 1;
  return depth;
}
