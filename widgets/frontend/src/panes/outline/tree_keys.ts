/** The keys of a tree, after the ARIA practices: arrows, Home, End, Enter, and typing a name. */

import type { Item } from "../../forest/items";
import type { Row } from "./outline_rows";

interface Tree {
  rows: readonly Row[];
  /** The row that has the keys. */
  active: number;
  go: (row: number) => void;
  toggle: (item: Item) => void;
}

/** Letters typed within this many milliseconds of each other are one name. */
const TOGETHER_MS = 700;
const PAGE = 10;
/** Search, back and forward: keys that work in every pane. */
const OF_THE_VIEW = ["/", "[", "]"];

/** A handler that remembers what is being typed. */
export function treeKeys(now: () => number = () => performance.now()) {
  let typed = "";
  let at = Number.NEGATIVE_INFINITY;
  return (event: KeyboardEvent, tree: Tree): void => {
    if (event.ctrlKey || event.metaKey || event.altKey || OF_THE_VIEW.includes(event.key)) return;
    if (event.key.length === 1 && event.key !== " ") {
      typed = now() - at < TOGETHER_MS ? typed + event.key : event.key;
      at = now();
      const row = startingWith(tree, typed.toLowerCase());
      if (row >= 0) tree.go(row);
    } else if (!move(event.key, tree)) return;
    event.preventDefault();
    event.stopPropagation();
  };
}

/** The next row of a name; with one letter typed again, the one after. */
function startingWith({ rows, active }: Tree, typed: string): number {
  const first = typed.length === 1 ? active + 1 : active;
  for (let step = 0; step < rows.length; step++) {
    const index = (first + step) % rows.length;
    if (rows[index]?.item.title.toLowerCase().startsWith(typed)) return index;
  }
  return -1;
}

/** Whether the key is one of the tree's. */
function move(key: string, { rows, active, go, toggle }: Tree): boolean {
  const row = rows[active];
  const branch = row !== undefined && row.item.children.length > 0;
  switch (key) {
    case "ArrowDown":
      go(active + 1);
      return true;
    case "ArrowUp":
      go(active - 1);
      return true;
    case "PageDown":
      go(active + PAGE);
      return true;
    case "PageUp":
      go(active - PAGE);
      return true;
    case "Home":
      go(0);
      return true;
    case "End":
      go(rows.length - 1);
      return true;
    case "ArrowRight":
      if (branch && row.open) go(active + 1);
      else if (branch) toggle(row.item);
      return true;
    case "ArrowLeft":
      if (row?.open) toggle(row.item);
      else if (row) go(parentOf(rows, active));
      return true;
    case "Enter":
    case " ":
      if (branch) toggle(row.item);
      else go(active);
      return true;
    default:
      return false;
  }
}

function parentOf(rows: readonly Row[], active: number): number {
  const depth = rows[active]?.depth ?? 0;
  const parent = rows.findLastIndex((row, index) => index < active && row.depth < depth);
  return parent < 0 ? active : parent;
}
