/** Which box an arrow key moves to. Pure. */

import type { Item } from "../forest/items";
import type { Links } from "./links";
import type { Scene, SceneBox } from "./scene";

export type Direction = "up" | "down" | "left" | "right";

/** Up and down follow an edge where there is one; else it is the nearest box that way. */
export function stepFrom(
  scene: Scene,
  links: Links,
  item: Item,
  direction: Direction,
): Item | null {
  const from = scene.boxOf.get(item);
  if (!from) return null;
  const beside = direction === "up" ? links.before(item) : links.after(item);
  const linked = direction === "up" || direction === "down" ? beside : [];
  const next = linked.find((each) => each.kind !== "port" && scene.boxOf.has(each));
  return next ?? nearest(scene, from, direction);
}

/** By distance between centres; sideways distance counts double. */
function nearest(scene: Scene, from: SceneBox, direction: Direction): Item | null {
  const [x, y] = centre(from);
  let best: Item | null = null;
  let least = Number.POSITIVE_INFINITY;
  for (const [item, box] of scene.boxOf) {
    if (box === from || box.open || item.kind === "port") continue;
    const [boxX, boxY] = centre(box);
    const along = { up: y - boxY, down: boxY - y, left: x - boxX, right: boxX - x }[direction];
    const isVertical = direction === "up" || direction === "down";
    const aside = Math.abs(isVertical ? boxX - x : boxY - y);
    if (along > 1 && along + 2 * aside < least) {
      least = along + 2 * aside;
      best = item;
    }
  }
  return best;
}

function centre(box: SceneBox): [x: number, y: number] {
  return [box.x + box.width / 2, box.y + box.height / 2];
}
