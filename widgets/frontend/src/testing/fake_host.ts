/** A host whose answers are at hand, and a store on it. */

import { exampleValues } from "../cost";
import type { Asks, AttemptHead, First, Host, Layout, Progress, Setups, TokenLine } from "../host";
import { Program } from "../program";
import type { Record } from "../record.gen";
import { Store } from "../store";
import { encode } from "./encode";

export interface Answers {
  layout?: Layout;
  attempts?: AttemptHead[];
  /** Text per file, without colours; a file that is not here is refused. */
  sources?: { [file: number]: string };
  code?: Asks["code"]["reply"];
  record?: Record;
  setups?: Setups;
  cost?: Asks["cost"]["reply"];
  /** What an action answers; a string refuses it. Without it, it never ends. */
  action?: (
    kind:
      | "trust"
      | "apply"
      | "autofix"
      | "use"
      | "verify"
      | "decompose"
      | "contracts"
      | "run"
      | "profile"
      | "reproduce"
      | "writing",
    request: object,
  ) => object | null | string;
  live?: boolean;
  decomposable?: string[];
  /** A case, and a page on a graph break; without them, they are refused. */
  case?: Asks["case"]["reply"];
  break?: Asks["break"]["reply"];
  /** The page on a stable code; without it, it is refused. */
  explain?: Asks["explain"]["reply"];
}

export class FakeHost implements Host {
  current = 0;
  compared = -1;
  first: First = {};
  readonly asked: string[] = [];
  readonly requests: object[] = [];
  interrupt?: () => void;
  lost = "";
  private readonly listeners = new Set<(progress: Progress | null) => void>();
  private readonly changed = new Set<() => void>();

  constructor(private readonly answers: Answers = {}) {}

  get layout(): Layout {
    return this.answers.layout ?? "all";
  }

  get attempts(): readonly AttemptHead[] {
    return this.answers.attempts ?? [];
  }

  ask<K extends keyof Asks>(kind: K, request: Asks[K]["request"]): Promise<Asks[K]["reply"]> {
    this.asked.push(kind);
    this.requests.push(request);
    return this.reply(kind, request) as Promise<Asks[K]["reply"]>;
  }

  get live(): boolean {
    return this.answers.live ?? true;
  }

  onChange(callback: () => void): () => void {
    this.changed.add(callback);
    return () => this.changed.delete(callback);
  }

  onProgress(callback: (progress: Progress | null) => void): () => void {
    this.listeners.add(callback);
    return () => this.listeners.delete(callback);
  }

  /** As a host of which something is another now. */
  change(what: {
    attempts?: AttemptHead[];
    current?: number;
    lost?: string;
    record?: Record;
  }): void {
    const { attempts, record, ...own } = what;
    if (attempts) this.answers.attempts = attempts;
    if (record) this.answers.record = record;
    Object.assign(this, own);
    for (const callback of this.changed) callback();
  }

  /** As a kernel that is at work. */
  tell(progress: Progress | null): void {
    for (const listener of this.listeners) listener(progress);
  }

  private async reply(kind: keyof Asks, request: object): Promise<unknown> {
    if (
      kind === "trust" ||
      kind === "apply" ||
      kind === "autofix" ||
      kind === "use" ||
      kind === "verify" ||
      kind === "decompose" ||
      kind === "contracts" ||
      kind === "run" ||
      kind === "profile" ||
      kind === "reproduce" ||
      kind === "writing"
    ) {
      if (!this.answers.action) return new Promise(() => {});
      const answer = this.answers.action(kind, request);
      if (typeof answer === "string") throw new Error(answer);
      return answer;
    }
    if (kind === "case" || kind === "break" || kind === "explain") {
      if (this.answers[kind]) return this.answers[kind];
    }
    if (kind === "record" && this.answers.record) return encode(this.answers.record);
    if (kind === "setups" && this.answers.setups) return this.answers.setups;
    if (kind === "code" && this.answers.code) return this.answers.code;
    if (kind === "cost" && this.answers.cost) return this.answers.cost;
    if (kind === "texts") return [];
    if (kind === "decomposable") return { ops: this.answers.decomposable ?? [] };
    const text = "file" in request ? this.answers.sources?.[Number(request.file)] : undefined;
    if (kind === "source" && text !== undefined) return { lines: plainLines(text) };
    throw new Error("That is not on this machine.");
  }
}

export const plainLines = (text: string): TokenLine[] =>
  text.split("\n").map((line): TokenLine => [["", line]]);

/** A store that shows a record, without the way over the wire. */
export function storeOf(record: Record, answers: Answers = {}): { store: Store; program: Program } {
  const store = new Store(new FakeHost(answers));
  const program = new Program(record);
  store.program.value = program;
  store.sizes.value = exampleValues(program);
  store.status.value = { kind: "ready" };
  return { store, program };
}
