/** What stands out in a scene: the selection, what is under the pointer, and the paths. Pure. */

import { BOTH } from "../both";
import type { Item } from "../forest/items";
import type { Costs } from "../profile";
import type { NodeId } from "../program";
import type { Selection } from "../selection";
import type { Marked } from "./differing";
import type { Drawing } from "./drawing";
import { heatOf } from "./heat";
import { pathThrough } from "./neighbours";
import type { Scene } from "./scene";

export interface Marks {
  lit: ReadonlySet<Item>;
  hovered: Item | null;
  /** The hovered item's neighbours, by edges or by name. */
  near: ReadonlySet<Item>;
  /** Of the boxes, how much each costs of what the dearest one does; null without a heat map. */
  heat: ReadonlyMap<Item, number> | null;
  /** All that leads to the selection or follows from it; null when no path is shown. */
  path: ReadonlySet<Item> | null;
  /** Where two programs differ; null for one alone. */
  marked: Marked | null;
  /** Of two programs, those that are shown, as bits. */
  sides: number;
}

export const NO_MARKS: Marks = {
  lit: new Set(),
  hovered: null,
  near: new Set(),
  heat: null,
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
  /** What ops cost, for a heat map. */
  costs?: Costs | null;
}

export function marksOf(drawing: Drawing, scene: Scene, pointed: Pointed): Marks {
  const { program, forest, neighbours, marked } = drawing;
  const { costs = null, hovered, nodes, selection, showPath, sides } = pointed;
  const lit = litOnce(drawing, scene, selection, nodes);
  const near = hovered
    ? [...(neighbours.before.get(hovered) ?? []), ...(neighbours.after.get(hovered) ?? [])]
    : [];
  const path = showPath && nodes.size > 0 ? pathThrough(program, forest, nodes) : null;
  const heat = costs && heatOf(scene, costs);
  return { lit, hovered, near: new Set(near), heat, path, marked, sides };
}

/** Per selection, what of a scene it lights up: hovering asks again and again. */
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
