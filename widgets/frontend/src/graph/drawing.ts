/** What is drawn of a program under some options, before anything is opened or has a place. Pure. */

import type { Program } from "../program";
import { buildForest, type Forest, type Options } from "./items";
import { findLinks, type Links } from "./links";
import { type Neighbours, neighboursOf } from "./neighbours";
import { commonDtype } from "./pieces";
import { stackRepeats } from "./repeats";

export interface Drawing {
  program: Program;
  forest: Forest;
  links: Links;
  neighbours: Neighbours;
  /** The dtype that goes without saying. */
  dtype: string;
}

export function drawingOf(program: Program, options: Options): Drawing {
  const forest = buildForest(program, options);
  stackRepeats(program, forest);
  const links = findLinks(program, forest);
  return { program, forest, links, neighbours: neighboursOf(links), dtype: commonDtype(program) };
}

/** At first, all is closed but scopes without neighbours: opening those saves a click. */
export function firstOpen(forest: Forest): Set<string> {
  const open = new Set<string>();
  let { children } = forest.root;
  for (;;) {
    const inner = children.filter((item) => !["input", "output", "port"].includes(item.kind));
    const only = inner[0];
    if (inner.length !== 1 || !only || only.kind !== "scope") return open;
    open.add(only.key);
    children = only.children;
  }
}
