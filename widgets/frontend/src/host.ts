/**
 * What a view needs from wherever it runs. A notebook with a live kernel is one host; a frozen page
 * is another. Views never talk to a kernel directly.
 */

import type { ExportCase, GraphBreakPage, ProgramDiff, TextDiff } from "./record.gen";

/** What a view knows of an attempt before its Record arrives. */
export interface AttemptHead {
  /** `non-strict`, `strict`, or what else tells the attempts of one widget apart. */
  label: string;
  outcome: "exported" | "failed";
  verdict: string;
  /** Index of the attempt that it was made from; -1 for the first. */
  parent: number;
  /** What was done to come from there, `Let seq be at most 16`; empty for the first. */
  step: string;
  /** Counts what was found out about the attempt since; with it, its Record is another. */
  revision: number;
}

/** How far an action is. `total` 0: not known. */
export interface Progress {
  done: number;
  total: number;
  label: string;
}

/** What can be run on the kernel's machine. */
export interface Setups {
  devices: string[];
  /** `missing`: per device, what keeps it from running there; null if nothing does. */
  backends: { name: string; title: string; missing: (string | null)[] }[];
}

export interface RunRequest {
  attempt: number;
  device: string;
  /** Values of symbols by their names; null: the example's inputs. */
  sizes: { [symbol: string]: number } | null;
}

/** A coloured line of text: `[pygments class, text]` pairs. The text is only ever set as text. */
export type TokenLine = [cls: string, text: string][];

/** What a view can ask for, and what it gets. Attempts are named by index. */
export interface Asks {
  /** The bytes of a Record, for `wire.decode`. */
  record: { request: { attempt: number }; reply: DataView };
  /** The text of a source file of the Record. Rejects with a sentence when it is not to be had. */
  source: { request: { attempt: number; file: number }; reply: { lines: TokenLine[] } };
  /** A graph as torch prints it; `nodes[i]` is the node that line `i` defines, or -1. */
  code: {
    request: { attempt: number; graph: number };
    reply: { lines: TokenLine[]; nodes: number[] };
  };
  /** The ops that torch's default table decomposes, by name. */
  decomposable: { request: { attempt: number }; reply: { ops: string[] } };
  /** How an attempt's program differs from that of another, which came before. */
  diff: { request: { attempt: number; other: number }; reply: ProgramDiff };
  /** The source files and printed graphs that differ between the same two. */
  texts: { request: { attempt: number; other: number }; reply: TextDiff[] };
  /**
   * Applies fixes of a failed attempt, by their numbers, together. Gives the new attempt's index;
   * `attempts` and `current` change too. A fix that fails, or is interrupted, leaves what was
   * current current: it rejects with a sentence.
   */
  apply: { request: { attempt: number; fixes: number[] }; reply: { attempt: number } };
  /** Applies lossless fixes until the export succeeds or none is left. */
  autofix: { request: { attempt: number }; reply: { attempt: number; report: string } };
  /** Checks the guarantees of an attempt's program, at so many sizes; its Record has them then. */
  verify: { request: { attempt: number; sizes: number }; reply: { sentence: string } };
  /** The devices of the kernel's machine, and what runs there. */
  setups: { request: { attempt: number }; reply: Setups };
  /** Runs an attempt's program and compares with eager; its Record has the rows then. The sentence
   * says why it ended early; else it is empty. */
  run: { request: RunRequest & { backends: string[] }; reply: { sentence: string } };
  /** Measures what each op of an attempt's program costs; its Record has it then. */
  profile: { request: RunRequest; reply: null };
  /** Decomposes an attempt's program, by a table such as `core -linear`. Gives the new attempt. */
  decompose: { request: { attempt: number; table: string }; reply: { attempt: number } };
  /** Makes an attempt the one that the kernel holds: `ex.program` is its program. */
  use: { request: { attempt: number }; reply: null };
  /** A case of ExportDB, its source coloured. Rejects where this torch has none of that name. */
  case: { request: { name: string }; reply: { case: ExportCase; lines: TokenLine[] } };
  /** A page of torch's registry of graph breaks. */
  break: { request: { name: string }; reply: { page: GraphBreakPage } };
}

/** Which panes to show: everything, or one alone in a cell of its own. */
export type Layout = "all" | "graph" | "signature" | "source" | "shapes" | "code";

export interface Host {
  readonly layout: Layout;
  readonly attempts: readonly AttemptHead[];
  /** Index of the attempt that the kernel holds; shown first. */
  readonly current: number;
  /** Index of the attempt that it is compared with from the start; -1 for none. */
  readonly compared: number;
  /** Resolves with the reply; rejects with an Error whose message can be shown as it is. */
  ask<K extends keyof Asks>(kind: K, request: Asks[K]["request"]): Promise<Asks[K]["reply"]>;
  /** Calls back while an action runs, and with null when it has ended. Returns how to stop. */
  onProgress(callback: (progress: Progress | null) => void): () => void;
  /** Interrupts the action that runs; undefined where the host cannot. */
  readonly interrupt?: () => void;
  /** Whether actions can be done: false for a frozen page. */
  readonly live: boolean;
  /** What became of the kernel, as `The kernel was restarted`; empty while it answers. */
  readonly lost: string;
  /** Calls back when `attempts`, `current` or `lost` have changed. Returns how to stop. */
  onChange(callback: () => void): () => void;
}
