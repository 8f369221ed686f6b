/** Steps from one difference to another, and selects it in every pane. */

import { batch } from "@preact/signals";
import type { Store } from "../store";

/** Selects an entry of the comparison, in every pane. */
export function goToDifference(store: Store, number: number): void {
  const { comparison } = store;
  const entry = comparison.peek()?.entries[number];
  if (!entry) return;
  batch(() => {
    const shown = comparison.peek();
    if (shown) shown.at.value = number;
    const { became } = entry;
    if (became.length > 0) store.select({ kind: "nodes", nodes: became }, "differences");
    else if (entry.after !== null)
      store.select({ kind: "nodes", nodes: [entry.after] }, "differences");
    else store.select({ kind: "removed", node: entry.before ?? 0 }, "differences");
  });
}

/** Goes to the next difference, or the one before; from the last to the first. */
export function stepDifference(store: Store, step: 1 | -1): void {
  const shown = store.comparison.peek();
  const count = shown?.entries.length ?? 0;
  if (!shown || count === 0) return;
  const from = shown.at.peek() < 0 && step < 0 ? 0 : shown.at.peek();
  goToDifference(store, (from + step + count) % count);
}
