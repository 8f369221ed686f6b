/** The Host of a live notebook: traits and messages of an anywidget model. */

import { Refused, reasonOf } from "./format";
import type { Asks, AttemptHead, First, Host, Layout, Progress, SetState } from "./host";
import type { Model } from "./jupyter_types";
import { KernelWatch } from "./kernel_watch";
import type { LibraryAsks } from "./messages.gen";
import { inflate } from "./wire";

interface Reply {
  id?: unknown;
  progress?: Progress;
  ok?: boolean;
  value?: unknown;
  error?: string;
  /** The report to send, for a defect of Export Explorer. */
  report?: string;
}

interface Waiting {
  resolve: (value: never) => void;
  reject: (error: Error) => void;
}

/** Requests that only read, and can be repeated. */
const READS: ReadonlySet<string> = new Set<keyof Asks | keyof LibraryAsks>([
  "record",
  "source",
  "code",
  "cost",
  "decomposable",
  "diff",
  "texts",
  "setups",
  "writing",
  "tensor",
  "cases",
  "case",
  "breaks",
  "break",
  "explain",
]);
/** A kernel that has nothing to do has answered by then. */
const ANSWERED_MS = 4000;
const MOST_TIMES = 3;

const TRAITS = ["attempts", "current", "record", "programs"] as const;

export class AnywidgetHost implements Host {
  private readonly waiting = new Map<string, Waiting>();
  private readonly prefix = Math.random().toString(36).slice(2);
  private next = 0;
  private readonly listeners = new Set<(progress: Progress | null) => void>();
  private readonly changed = new Set<() => void>();
  private readonly watch: KernelWatch;
  readonly live = true;

  constructor(protected readonly model: Model) {
    model.on("msg:custom", this.receive);
    this.watch = new KernelWatch(model.widget_manager?.kernel, this.onLost);
  }

  get lost(): string {
    return this.watch.lost;
  }

  get layout(): Layout {
    return (this.model.get("view") as Layout) || "all";
  }

  get attempts(): readonly AttemptHead[] {
    return (this.model.get("attempts") as AttemptHead[]) ?? [];
  }

  get current(): number {
    return Number(this.model.get("current") ?? 0);
  }

  get first(): First {
    return (this.model.get("first") as First) ?? {};
  }

  get programs(): SetState | null {
    const state = this.model.get("programs") as Partial<SetState> | undefined;
    return state?.set ? (state as SetState) : null;
  }

  get picture(): string {
    const { picture } = (this.model.get("still") as { picture?: unknown } | undefined) ?? {};
    return typeof picture === "string" ? picture : "";
  }

  get compared(): number {
    return Number(this.model.get("compared") ?? -1);
  }

  /** A busy kernel answers late, so only a lost kernel ends the waiting. */
  ask<K extends keyof Asks>(kind: K, request: Asks[K]["request"]): Promise<Asks[K]["reply"]> {
    const held = this.model.get("record") as DataView<ArrayBuffer> | null;
    const current = "attempt" in request && request.attempt === this.current;
    if (kind === "record" && current && held && held.byteLength > 0) {
      return unpacked(held) as Promise<Asks[K]["reply"]>;
    }
    return this.send(kind, request);
  }

  /** Asks the kernel anything. */
  protected send<Reply>(kind: string, request: object): Promise<Reply> {
    if (this.lost) return Promise.reject(new Error(`${this.lost}.`));
    return new Promise((resolve, reject) => {
      const id = `${this.prefix}-${this.next++}`;
      const message = { id, ask: kind, ...request };
      this.waiting.set(id, { resolve: resolve as (value: never) => void, reject });
      try {
        this.model.send(message);
        if (READS.has(kind)) this.sendAgain(message);
      } catch (error) {
        console.error(`export-explorer: a message could not be sent: ${reasonOf(error)}`);
        this.watch.unreachable();
      }
    });
  }

  /**
   * Asks again while a kernel has nothing to do and has not answered: Jupyter's server drops
   * messages over its limits of rate, and tells nobody.
   */
  private sendAgain(message: { id: string }, times = 0, wasIdle = false): void {
    setTimeout(() => {
      if (!this.waiting.has(message.id) || times === MOST_TIMES) return;
      const isIdle = this.model.widget_manager?.kernel?.status === "idle";
      const again = isIdle && wasIdle;
      if (again) this.model.send(message);
      this.sendAgain(message, times + Number(again), isIdle && !again);
    }, ANSWERED_MS);
  }

  /** Requests to a lost kernel get no answer. */
  private readonly onLost = (): void => {
    if (this.lost) this.fail(`${this.lost}.`);
    for (const callback of this.changed) callback();
  };

  private fail(why: string): void {
    const open = [...this.waiting.values()];
    this.waiting.clear();
    for (const { reject } of open) reject(new Error(why));
  }

  /** marimo sets one trait after the other, each with its event: they are looked at together. */
  onChange(callback: () => void): () => void {
    let due = false;
    const soon = () => {
      if (!due)
        queueMicrotask(() => {
          due = false;
          if (this.changed.has(callback)) callback();
        });
      due = true;
    };
    this.changed.add(callback);
    for (const trait of TRAITS) this.model.on(`change:${trait}`, soon);
    return () => {
      this.changed.delete(callback);
      for (const trait of TRAITS) this.model.off(`change:${trait}`, soon);
    };
  }

  onProgress(callback: (progress: Progress | null) => void): () => void {
    this.listeners.add(callback);
    return () => this.listeners.delete(callback);
  }

  /** Only where the page can reach the kernel while it is busy. */
  get interrupt(): (() => void) | undefined {
    const kernel = this.model.widget_manager?.kernel;
    return kernel?.interrupt ? () => void kernel.interrupt?.() : undefined;
  }

  /** Rejects open requests, and stops listening. */
  dispose(): void {
    this.model.off("msg:custom", this.receive);
    this.watch.dispose();
    this.fail("This view is closed.");
    this.listeners.clear();
  }

  private readonly receive = (reply: Reply, buffers: DataView[]): void => {
    const { progress } = reply;
    if (progress) for (const listener of this.listeners) listener(progress);
    const waiting = typeof reply.id === "string" ? this.waiting.get(reply.id) : undefined;
    if (!waiting) return; // another view of the same model asked
    this.waiting.delete(reply.id as string);
    if (reply.ok) waiting.resolve((buffers[0] ?? reply.value) as never);
    else waiting.reject(new Refused(reply.error ?? "The kernel could not answer.", reply.report));
  };
}

/** The Record that came with the widget. */
async function unpacked(held: DataView<ArrayBuffer>): Promise<DataView<ArrayBuffer>> {
  return new DataView(await inflate(held).arrayBuffer());
}
