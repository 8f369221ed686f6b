/** The program on screen compared with another: the differences, and the current one. */

import { type Signal, signal } from "@preact/signals";
import type { Program } from "../program";
import type { ProgramDiff } from "../record.gen";
import type { Merged } from "../two_programs";
import { type Entry, entriesOf } from "./entries";
import { merge } from "./merged";

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
    this.entries = entriesOf(diff, { before, after });
    this.merged = merge(before, after, diff);
  }

  /** The same comparison with what is known now of the program on screen. */
  with(after: Program): Comparison {
    const next = new Comparison(this.other, this.before, after, this.diff);
    next.at.value = this.at.peek();
    return next;
  }
}
