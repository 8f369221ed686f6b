/** The outline as rows: the open part of the graph's tree, or the results of a search. */

import { type Forest, type Item, listed, listedIn } from "../../forest/items";
import type { NodeId } from "../../program";
import type { Found } from "../../search";

export interface Row {
  item: Item;
  depth: number;
  open: boolean;
}

/** The rows of the open items. */
export function outlineRows(forest: Forest, open: ReadonlySet<string>): Row[] {
  const rows: Row[] = [];
  addChildren(forest.root, 0, open, rows);
  return rows;
}

function addChildren(item: Item, depth: number, open: ReadonlySet<string>, rows: Row[]): void {
  for (const child of listed(item)) {
    const isOpen = open.has(child.key);
    rows.push({ item: child, depth, open: isOpen });
    if (isOpen) addChildren(child, depth + 1, open, rows);
  }
}

/** The found items, one below the other; a found module may be opened in place. */
export function foundRows(found: readonly Item[], open: ReadonlySet<string>): Row[] {
  const rows: Row[] = [];
  let shown = 0; // earlier items have their rows
  for (const item of found) {
    if (item.at < shown) continue;
    const isOpen = open.size > 0 && open.has(item.key);
    rows.push({ item, depth: 0, open: isOpen });
    if (!isOpen) continue;
    addChildren(item, 1, open, rows);
    shown = item.end;
  }
  return rows;
}

/** The modules around an item: `encoder.layer.3.mlp`. */
export function placeOf(item: Item): string {
  const path: string[] = [];
  for (let at = listedIn(item); at?.parent; at = listedIn(at)) path.unshift(at.title);
  return path.join(".");
}

/** The items that stand for what a search found, in their order; several nodes may share one. */
export function itemsFound(forest: Forest, { nodes, scopes }: Found): Item[] {
  const { items, itemOf, root } = forest;
  const isFound = new Uint8Array(items.length);
  for (const id of nodes) {
    const item = itemOf.get(id);
    if (item) isFound[item.at] = 1;
  }
  if (scopes.length > 0) for (const { at } of forest.ofScopes(scopes)) isFound[at] = 1;
  isFound[root.at] = 0;
  return items.filter(({ at }) => isFound[at] === 1);
}

/** The items that stand for some nodes. */
export function itemsOf(forest: Forest, nodes: Iterable<NodeId>): Set<Item> {
  const items = new Set<Item>();
  for (const id of nodes) {
    const item = forest.itemOf.get(id);
    if (item) items.add(item);
  }
  return items;
}

/** Everything that some of the items are in. */
export function above(items: Iterable<Item>): Set<Item> {
  const found = new Set<Item>();
  for (const item of items) {
    for (let at = item.parent; at && !found.has(at); at = at.parent) found.add(at);
  }
  return found;
}

/** What must be open for an item to have a row. */
export function openTo(item: Item, open: ReadonlySet<string>): ReadonlySet<string> {
  const wanted = new Set(open);
  for (const each of above([item])) if (each.parent) wanted.add(each.key);
  return wanted.size === open.size ? open : wanted;
}

/** The nodes of an item and of all below it. */
export function nodesBelow(item: Item): NodeId[] {
  const nodes: NodeId[] = [];
  const visit = ({ children, node }: Item): void => {
    if (node >= 0) nodes.push(node);
    for (const child of children) visit(child);
  };
  visit(item);
  return nodes;
}
