/**
 * The interface between a view and the page that it runs in. A notebook with a live kernel is one
 * host; a frozen page is another. Views never talk to a kernel directly.
 */

import type { Asks, AttemptHead, SetState, Token } from "./messages.gen";

export type { Asks, AttemptHead, RunRequest, SetState, Setups } from "./messages.gen";

/** A line of highlighted text. The text is only ever set as text. */
export type TokenLine = Token[];

/** How far an action is. `total` 0: not known. */
export interface Progress {
  done: number;
  total: number;
  label: string;
}

/** Which panes to show: everything, or one alone in a cell of its own. */
export type Layout = "all" | "graph" | "signature" | "source" | "shapes" | "code";

/** What is to be seen first, by names: what is selected, which modules are open, which pane is. */
export interface First {
  readonly select?: readonly string[];
  readonly open?: readonly string[];
  readonly tab?: readonly string[];
}

export interface Host {
  readonly layout: Layout;
  readonly attempts: readonly AttemptHead[];
  /** Index of the attempt that the kernel holds; shown first. */
  readonly current: number;
  /** Index of the attempt that it is compared with from the start; -1 for none. */
  readonly compared: number;
  /** The initial state of the view, if a line of Python defines it. */
  readonly first?: First;
  /** The graph's top level as an SVG document, to be seen until its Record comes; empty for none. */
  readonly picture?: string;
  /** The set of programs that the attempts are of; absent where they are of one program. */
  readonly programs?: SetState | null;
  /** Resolves with the reply; rejects with an Error whose message can be shown unchanged. */
  ask<K extends keyof Asks>(kind: K, request: Asks[K]["request"]): Promise<Asks[K]["reply"]>;
  /** Calls back while an action runs, and with null when it has ended. Returns how to stop. */
  onProgress(callback: (progress: Progress | null) => void): () => void;
  /** Interrupts the running action; undefined if the host cannot. */
  readonly interrupt?: () => void;
  /** Whether actions can be done: false for a frozen page. */
  readonly live: boolean;
  /** The kernel's fate, such as `The kernel was restarted`; empty while it answers. */
  readonly lost: string;
  /** Calls back when `attempts`, `current`, `programs` or `lost` have changed. Returns how to stop. */
  onChange(callback: () => void): () => void;
}
