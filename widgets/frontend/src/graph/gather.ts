/** Selecting several boxes: one after another, or all in a frame. Pure. */

import { type Item, nodesBelow } from "../forest/items";
import type { NodeId } from "../program";
import type { Rect } from "./camera";
import type { Scene, SceneBox } from "./scene";

/** The nodes that a box stands for. */
export const nodesOfItem = (item: Item): readonly NodeId[] =>
  item.node >= 0 ? [item.node] : nodesBelow(item);

/** Some nodes with others, or without them if all of these are among them already. */
export function toggled(nodes: Iterable<NodeId>, others: readonly NodeId[]): NodeId[] {
  const found = new Set(nodes);
  const all = others.every((each) => found.has(each));
  for (const each of others) {
    if (all) found.delete(each);
    else found.add(each);
  }
  return [...found];
}

/** The nodes of the closed boxes that a frame, in scene coordinates, touches. */
export function nodesWithin(scene: Scene, frame: Rect): NodeId[] {
  const found = new Set<NodeId>();
  const visit = (box: SceneBox): void => {
    for (const child of box.children) {
      if (!touches(child, frame)) continue;
      if (child.open) visit(child);
      else if (child.item.kind !== "port") {
        for (const node of nodesOfItem(child.item)) found.add(node);
      }
    }
  };
  visit(scene.root);
  return [...found];
}

function touches(one: Rect, other: Rect): boolean {
  return (
    one.x <= other.x + other.width &&
    other.x <= one.x + one.width &&
    one.y <= other.y + other.height &&
    other.y <= one.y + one.height
  );
}

/** The rectangle between two corners. */
export function between(x: number, y: number, otherX: number, otherY: number): Rect {
  return {
    x: Math.min(x, otherX),
    y: Math.min(y, otherY),
    width: Math.abs(x - otherX),
    height: Math.abs(y - otherY),
  };
}
