/** How the boxes of a scene are decorated. Pure. */

import {
  type Badge,
  type Decoration,
  type GatheredMarks,
  gathered,
} from "../decorations/decoration";
import type { Forest, Item } from "../forest/items";
import { ensure } from "../maps";
import type { Scene } from "./scene";

const MOST_BADGES = 3;

/** What is drawn of the decorations of a box. */
export interface Decorated {
  badges: Badge[];
  /** The colour of the box, or of its rim if only something in it is marked. Empty for none. */
  colour: string;
  rim: string;
  /** Its amount of the most that one box has: 0 to 1; -1 for none. */
  share: number;
}

export interface Decorations {
  boxes: Pick<ReadonlyMap<Item, Decorated>, "get">;
  /** The colour of the largest amount; empty if nothing is coloured by amounts. */
  scale: string;
  /** The most that one closed box has. */
  most: number;
  /** Whether colours mean something else than the kind of op. */
  coloured: boolean;
}

export const UNDECORATED: Decorations = { boxes: new Map(), scale: "", most: 0, coloured: false };

/**
 * @param colouring the decoration that colours all ops; null for none
 */
export function decorate(
  scene: Scene,
  forest: Forest,
  decorations: readonly Decoration[],
  colouring: Decoration | null,
): Decorations {
  const boxes = new Map<Item, Decorated>();
  const of = (item: Item): Decorated => ensure(boxes, item, () => ({ ...PLAIN, badges: [] }));
  for (const decoration of decorations) {
    if (decoration.measure || (decoration.colours && decoration !== colouring)) continue;
    for (const [item, mark] of gathered(decoration, forest)) {
      const box = scene.boxOf.get(item);
      // what is in an open box is there to be seen
      if (!box || (box.open && (!mark.own || decoration.colours))) continue;
      const drawn = of(item);
      if (mark.badge && drawn.badges.length < MOST_BADGES) drawn.badges.push(mark.badge);
      if (mark.own) drawn.colour ||= mark.colour ?? "";
      else drawn.rim ||= mark.colour ?? "";
    }
  }
  const marks = colouring?.measure ? gathered(colouring, forest) : null;
  const most = marks ? mostOf(scene, marks) : 0;
  const coloured = colouring !== null || [...boxes.values()].some((each) => each.colour);
  const scale = colouring?.measure?.colour ?? "";
  if (!marks) return { boxes, scale, most, coloured };
  // Only boxes in view are asked for: there may be very many.
  const get = (item: Item): Decorated | undefined => {
    const box = scene.boxOf.get(item);
    if (!box || box.open) return boxes.get(item);
    const share = most > 0 ? (marks.get(item)?.amount ?? 0) / most : 0;
    return { ...(boxes.get(item) ?? PLAIN), share };
  };
  return { boxes: { get }, scale, most, coloured };
}

const PLAIN: Decorated = { badges: [], colour: "", rim: "", share: -1 };

/** The most that one closed box has. */
function mostOf(scene: Scene, marks: GatheredMarks): number {
  let most = 0;
  for (const [item, { open }] of scene.boxOf) {
    if (!open) most = Math.max(most, marks.get(item)?.amount ?? 0);
  }
  return most;
}
