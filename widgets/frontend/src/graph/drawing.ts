/** What is drawn of a program under some options, before anything is opened or has a place. Pure. */

import type { Merged } from "../both";
import { type Marked, markItems } from "../forest/differing";
import type { Options } from "../forest/forest";
import type { Forest, Item } from "../forest/items";
import { forestOf, gatheredForest } from "../forest/program_forest";
import { counted } from "../format";
import type { Program } from "../program";
import { commonDtype } from "./labels";
import { Links } from "./links";

export interface Drawing {
  program: Program;
  forest: Forest;
  links: Links;
  /** The dtype that goes without saying. */
  dtype: string;
  /** Where two programs differ, of which this is both; null for one alone. */
  marked: Marked | null;
  /** What else to say of an item. */
  notes: (item: Item) => readonly string[];
}

export function drawingOf(program: Program, options: Omit<Options, "only">): Drawing {
  return drawn(program, forestOf(program, options), null);
}

/** Two programs in one drawing; layers that differ stand for themselves. */
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

/** A first view has no more boxes than this because something was opened in it. */
const MOST_AT_FIRST = 24;
/** What holds so much of what is shown is what the program is about. */
const MOST_OF_IT = 0.6;

/**
 * At first, all is closed but scopes without neighbours, since opening those saves a click, and the
 * scopes around a run of layers that is most of the program, as long as the view is small.
 */
export function firstOpen(forest: Forest): Set<string> {
  const open = new Set<string>();
  let { children, ops } = forest.root;
  let shown = children.length;
  /** What is to be opened, if layers are found in it. */
  let perhaps: string[] = [];
  for (;;) {
    const inner = children.filter((item) => !["input", "output"].includes(item.kind));
    const only = inner.length === 1 ? inner[0] : undefined;
    const main = only ?? inner.find((item) => item.ops > MOST_OF_IT * ops);
    if (main?.kind === "repeat") for (const key of perhaps) open.add(key);
    if (main?.kind !== "scope") return open;
    shown += main.children.length;
    if (!only && shown > MOST_AT_FIRST) return open;
    if (only && perhaps.length === 0) open.add(main.key);
    else perhaps = [...perhaps, main.key];
    ({ children, ops } = main);
  }
}
