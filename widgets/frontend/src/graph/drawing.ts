/** Which items of a program are drawn under the view's options, before layout. Pure. */

import { type Marked, markItems } from "../forest/differing";
import type { Options } from "../forest/forest";
import type { Forest, Item } from "../forest/items";
import { forestOf, gatheredForest } from "../forest/program_forest";
import { counted } from "../format";
import { ensure } from "../maps";
import type { Program } from "../program";
import type { Merged } from "../two_programs";
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
  /** Extra notes on an item. */
  notes: (item: Item) => readonly string[];
}

export function drawingOf(program: Program, options: Omit<Options, "only">): Drawing {
  return drawn(program, forestOf(program, options), null);
}

/** Two programs in one drawing; layers that differ are not folded into a run. */
export function drawingOfBoth(merged: Merged, options: Options): Drawing {
  const forest = gatheredForest(merged.program, options, (bare) => {
    const differing = markItems(bare, merged);
    return (item) => differing.inside.has(item);
  });
  return drawn(merged.program, forest, merged);
}

function drawn(program: Program, forest: Forest, merged: Merged | null): Drawing {
  const marked = merged && markItems(forest, merged);
  const links = new Links(program, forest, merged?.sidesOf);
  const notes = (item: Item): readonly string[] => [
    ...(merged?.notes.get(item.node) ?? []),
    ...inWords(marked?.inside.get(item) ?? 0),
  ];
  return { program, forest, links, dtype: commonDtype(program), marked, notes };
}

const inWords = (differences: number): string[] =>
  differences > 0 ? [counted(differences, "difference")] : [];

/** The initial view opens scopes only up to this many boxes. */
const MOST_AT_FIRST = 24;
/** A run of layers with this share of the ops counts as the body of the program. */
const MOST_OF_IT = 0.6;
const FEWEST = 3;

/** Whether most of the ops are in modules of one class that are too unlike for a run: stages. */
function areStages(items: readonly Item[], ops: number): boolean {
  const byClass = new Map<string, Item[]>();
  for (const item of items) {
    if (item.kind === "scope") ensure(byClass, item.subtitle, (): Item[] => []).push(item);
  }
  return [...byClass.values()].some(
    (alike) =>
      alike.length >= FEWEST && alike.reduce((sum, each) => sum + each.ops, 0) > MOST_OF_IT * ops,
  );
}

/**
 * Initially everything is closed except scopes without siblings, which saves a click, and the
 * scopes around layers that make up most of the program, as long as the view stays small.
 */
export function firstOpen(forest: Forest): Set<string> {
  const open = new Set<string>();
  let { children, ops } = forest.root;
  let shown = children.length;
  /** The scope to open if it contains layers. */
  let perhaps: string[] = [];
  for (;;) {
    const inner = children.filter((item) => !["input", "output"].includes(item.kind));
    const only = inner.length === 1 ? inner[0] : undefined;
    const main = only ?? inner.find((item) => item.ops > MOST_OF_IT * ops);
    if (main?.kind === "repeat" || areStages(inner, ops)) for (const key of perhaps) open.add(key);
    if (main?.kind !== "scope") return open;
    shown += main.children.length;
    if (!only && shown > MOST_AT_FIRST) return open;
    if (only && perhaps.length === 0) open.add(main.key);
    else perhaps = [...perhaps, main.key];
    ({ children, ops } = main);
  }
}
