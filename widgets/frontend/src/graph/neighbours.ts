/** Who is next to whom in the graph: by one edge, or by any number of them. */

import type { Forest, Item } from "../forest/items";
import { ensure } from "../maps";
import type { NodeId, Program } from "../program";
import type { Links } from "./links";

export interface Neighbours {
  before: Map<Item, Item[]>;
  after: Map<Item, Item[]>;
}

/** Per item, the items an edge joins it to, at every level. */
export function neighboursOf(links: Links): Neighbours {
  const before = new Map<Item, Item[]>();
  const after = new Map<Item, Item[]>();
  const add = (map: Map<Item, Item[]>, key: Item, value: Item): void => {
    ensure(map, key, (): Item[] => []).push(value);
  };
  for (const inside of links.inside.values()) {
    for (const { from, to } of inside) {
      add(after, from, to);
      add(before, to, from);
    }
  }
  for (const [to, sources] of links.taps) {
    for (const from of sources) {
      add(after, from, to);
      add(before, to, from);
    }
  }
  return { before, after };
}

/** The items of all nodes that lead to some nodes or follow from them, and what contains them. */
export function pathThrough(
  program: Program,
  forest: Forest,
  starts: Iterable<NodeId>,
): ReadonlySet<Item> {
  const items = new Set<Item>();
  for (const next of [program.inputsOf.bind(program), program.usersOf.bind(program)]) {
    const seen = new Set<NodeId>(starts);
    const queue = [...seen];
    for (let id = queue.pop(); id !== undefined; id = queue.pop()) {
      for (let item = forest.itemOf.get(id) ?? null; item && !items.has(item); item = item.parent) {
        items.add(item);
      }
      for (const other of next(id)) {
        if (!seen.has(other)) {
          seen.add(other);
          queue.push(other);
        }
      }
    }
  }
  return items;
}
