/** The program on screen beside another: what differs, and which difference is looked at. */

import { batch, type Signal, signal } from "@preact/signals";
import type { Program } from "../program";
import type { ProgramDiff } from "../record.gen";
import type { Store } from "../store";
import { type Entry, entriesOf } from "./entries";
import { type Merged, merge } from "./merged";

/** How the graphs of two programs are shown: in step, as one, or that on screen alone. */
export type Arrangement = "beside" | "overlay" | "alone";

export class Comparison {
  /** In the order of the program. */
  readonly entries: readonly Entry[];
  readonly merged: Merged;
  /** The entry that was gone to last; -1 for none. */
  readonly at: Signal<number> = signal(-1);

  /**
   * @param other the attempt that it is compared with
   * @param before that attempt's program
   * @param after the program on screen
   */
  constructor(
    readonly other: number,
    readonly before: Program,
    after: Program,
    readonly diff: ProgramDiff,
  ) {
    this.entries = entriesOf(diff);
    this.merged = merge(before, after, diff);
  }
}

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
