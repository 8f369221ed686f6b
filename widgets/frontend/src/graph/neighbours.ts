/** Who leads to whom in the graph, by any number of edges. */

import type { Forest, Item } from "../forest/items";
import type { NodeId, Program } from "../program";

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
