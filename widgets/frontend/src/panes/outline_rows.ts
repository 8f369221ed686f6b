/** The outline as rows: the tree of the graph, as far as it is open, or the results of a search. */

import type { Forest, Item } from "../graph/items";
import type { NodeId } from "../program";

export interface Row {
  item: Item;
  depth: number;
  open: boolean;
}

/** The rows of the open items. */
export function outlineRows(forest: Forest, open: ReadonlySet<string>): Row[] {
  const rows: Row[] = [];
  const visit = (item: Item, depth: number): void => {
    const isOpen = open.has(item.key);
    rows.push({ item, depth, open: isOpen });
    if (isOpen) for (const child of item.children) visit(child, depth + 1);
  };
  for (const child of forest.root.children) visit(child, 0);
  return rows;
}

/** One row per found node that has a box, without repeats. */
export function resultRows(forest: Forest, found: readonly NodeId[]): Row[] {
  const items = new Set(found.flatMap((id) => forest.itemOf.get(id) ?? []));
  return [...items].map((item) => ({ item, depth: 0, open: false }));
}

/** What must be open for an item to have a row. */
export function openTo(item: Item, open: ReadonlySet<string>): ReadonlySet<string> {
  const wanted = new Set(open);
  for (let above = item.parent; above?.parent; above = above.parent) wanted.add(above.key);
  return wanted.size === open.size ? open : wanted;
}
