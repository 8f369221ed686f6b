/** The highlights of a scene: the selection, the hovered item, and the paths. Pure. */

import type { Decoration } from "../decorations/decoration";
import type { Marked } from "../forest/differing";
import type { Item } from "../forest/items";
import type { NodeId } from "../program";
import type { Selection } from "../selection";
import { BOTH } from "../two_programs";
import { type Decorations, decorate, UNDECORATED } from "./decorated";
import type { Drawing } from "./drawing";
import type { Link } from "./links";
import { pathThrough } from "./neighbours";
import type { Line, Scene, Words } from "./scene";

export interface Marks {
  lit: ReadonlySet<Item>;
  hovered: Item | null;
  /** The hovered item's neighbours, by edges or by name. */
  near: ReadonlySet<Item>;
  decorations: Decorations;
  /** All that leads to the selection or follows from it; null when no path is shown. */
  path: ReadonlySet<Item> | null;
  /** Where two programs differ; null for one alone. */
  marked: Marked | null;
  /** Of two programs, those that are shown, as bits. */
  sides: number;
  /** The texts of a box, if they differ from the scene's. */
  wordsOf?: (item: Item) => Words | null;
  /** The same of the label of an edge. */
  textOf?: (link: Link) => Line | null;
}

export const NO_MARKS: Marks = {
  lit: new Set(),
  hovered: null,
  near: new Set(),
  decorations: UNDECORATED,
  path: null,
  marked: null,
  sides: BOTH,
};

interface Pointed {
  selection: Selection;
  /** The nodes that belong to the selection. */
  nodes: ReadonlySet<NodeId>;
  hovered: Item | null;
  showPath: boolean;
  sides: number;
  decorations?: readonly Decoration[];
  /** The one that colours by amounts; null for none. */
  colouring?: Decoration | null;
}

export function marksOf(drawing: Drawing, scene: Scene, pointed: Pointed): Marks {
  const { program, forest, links, marked } = drawing;
  const {
    colouring = null,
    decorations = NO_DECORATIONS,
    hovered,
    nodes,
    selection,
    showPath,
    sides,
  } = pointed;
  const lit = litOnce(drawing, scene, selection, nodes);
  const near = hovered ? [...links.before(hovered), ...links.after(hovered)] : [];
  const path = showPath && nodes.size > 0 ? pathThrough(program, forest, nodes) : null;
  const decorated = decoratedOnce(drawing, scene, decorations, colouring);
  return { lit, hovered, near: new Set(near), decorations: decorated, path, marked, sides };
}

const NO_DECORATIONS: readonly Decoration[] = [];

/** Per scene, its last decorations, cached because hovering asks for them repeatedly. */
const decoratedScenes = new WeakMap<Scene, { by: readonly unknown[]; made: Decorations }>();

function decoratedOnce(
  { forest }: Drawing,
  scene: Scene,
  decorations: readonly Decoration[],
  colouring: Decoration | null,
): Decorations {
  const before = decoratedScenes.get(scene);
  if (before?.by[0] === decorations && before.by[1] === colouring) return before.made;
  const made = decorate(scene, forest, decorations, colouring);
  decoratedScenes.set(scene, { by: [decorations, colouring], made });
  return made;
}

/** Per selection, the items it highlights, cached because hovering asks for them repeatedly. */
const known = new WeakMap<ReadonlySet<NodeId>, { scene: Scene; lit: ReadonlySet<Item> }>();

function litOnce(
  drawing: Drawing,
  scene: Scene,
  selection: Selection,
  nodes: ReadonlySet<NodeId>,
): ReadonlySet<Item> {
  const before = known.get(nodes);
  if (before?.scene === scene) return before.lit;
  const lit = litBoxes(drawing, scene, selection, nodes);
  lit.delete(drawing.forest.root);
  known.set(nodes, { scene, lit });
  return lit;
}

function litBoxes(
  { forest }: Drawing,
  scene: Scene,
  selection: Selection,
  nodes: ReadonlySet<NodeId>,
): Set<Item> {
  const lit = new Set<Item>();
  if (selection.kind === "scope") {
    for (const item of scene.boxOf.keys()) if (item.scope === selection.scope) lit.add(item);
    if (lit.size > 0) return lit;
  }
  for (const id of nodes) {
    const item = forest.itemOf.get(id);
    if (item) lit.add(shownFor(scene, item));
  }
  return lit;
}

/** The innermost item of the scene that an item is, or is inside of. */
export function shownFor(scene: Scene, item: Item): Item {
  let shown = item;
  while (shown.parent && !scene.boxOf.has(shown)) shown = shown.parent;
  return shown;
}
