/** How dear each box of a scene is, beside the dearest. Pure. */

import { type Item, nodesBelow } from "../forest/items";
import { type Costs, costOf } from "../profile";
import type { Scene } from "./scene";

/** Of the boxes that are closed, 0 to 1. An open box shows what is in it instead. */
export function heatOf(scene: Scene, costs: Costs): Map<Item, number> {
  const found = new Map<Item, number>();
  for (const [item, box] of scene.boxOf) {
    if (!box.open) found.set(item, costOf(costs, nodesBelow(item)));
  }
  const most = Math.max(...found.values(), 0);
  for (const [item, cost] of found) found.set(item, most > 0 ? cost / most : 0);
  return found;
}
