/**
 * The client of the layout worker, which all views of the page share. The worker's code is an asset
 * that the host loads. Where a page forbids workers, layout runs on the main thread; where it forbids
 * the worker's code too, or the code does not come, the simple layout is used.
 */

import { Placer } from "./graphviz_layout";
import { Lanes } from "./lanes";
import { type LayoutBox, type LayoutReply, PLACER, type Placed } from "./layout_types";

/** Places a box and its contents; null where a newer request of the same view superseded it. */
export interface Layouter {
  place(box: LayoutBox): Promise<Placed | null>;
  /** Ends this view's requests. */
  dispose(): void;
}

/** Runs the layouts of all views. */
interface Office {
  place(lane: number, box: LayoutBox): Promise<Placed | null>;
  drop(lane: number): void;
}

/** How long a picture waits for the worker's code before it gets the simple layout. */
const PATIENCE_MS = 10_000;

/** Waits for the worker's code; the first that comes is used by all views. */
class LateOffice implements Office {
  private opened: Office | undefined;
  private readonly plain = new PageOffice(null);
  private waiting: Promise<unknown> = Promise.resolve();

  /** Takes the worker's code, which each view brings. */
  bring(code: Promise<string>): void {
    if (this.opened) return;
    const open = code.then(
      (text) => {
        this.opened ??= start(text);
      },
      () => {}, // a kernel that is gone, or a page that forbids it
    );
    this.waiting = Promise.race([open, later(PATIENCE_MS)]);
  }

  async place(lane: number, box: LayoutBox): Promise<Placed | null> {
    if (!this.opened) await this.waiting;
    return (this.opened ?? this.plain).place(lane, box);
  }

  drop(lane: number): void {
    this.plain.drop(lane);
    if (this.opened) this.opened.drop(lane);
    else void this.waiting.then(() => this.opened?.drop(lane));
  }
}

const later = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

let shared: LateOffice | undefined;
let lanes = 0;

/**
 * Starts loading the page's layout worker. Call it early: Graphviz takes a moment to start.
 *
 * @param code the text of the worker, as `layout.js` exports it
 */
export function startLayouts(code: Promise<string>): void {
  office().bring(code);
}

function office(): LateOffice {
  shared ??= new LateOffice();
  return shared;
}

/** A layouter for one view. */
export function layouter(): Layouter {
  const all = office();
  const lane = lanes++;
  return { place: (box) => all.place(lane, box), dispose: () => all.drop(lane) };
}

function start(code: string): Office {
  const url = URL.createObjectURL(new Blob([code], { type: "text/javascript" }));
  try {
    return new WorkerOffice(new Worker(url), url);
  } catch {
    return new PageOffice(url);
  }
}

interface Waiting {
  lane: number;
  box: LayoutBox;
  resolve: (placed: Placed | null) => void;
  reject: (error: Error) => void;
}

class WorkerOffice implements Office {
  private readonly waiting = new Map<number, Waiting>();
  private fallback: PageOffice | undefined;
  private next = 0;

  constructor(
    private readonly worker: Worker,
    private readonly url: string,
  ) {
    worker.onmessage = (event: MessageEvent<LayoutReply>) => this.receive(event.data);
    worker.onerror = () => this.fallBack();
  }

  place(lane: number, box: LayoutBox): Promise<Placed | null> {
    if (this.fallback) return this.fallback.place(lane, box);
    return new Promise((resolve, reject) => {
      const id = this.next++;
      this.waiting.set(id, { lane, box, resolve, reject });
      this.worker.postMessage({ id, lane, box });
    });
  }

  drop(lane: number): void {
    if (this.fallback) this.fallback.drop(lane);
    else this.worker.postMessage({ id: -1, lane, box: null });
  }

  private receive(reply: LayoutReply): void {
    const waiting = this.waiting.get(reply.id);
    this.waiting.delete(reply.id);
    if ("error" in reply) waiting?.reject(new Error(reply.error));
    else waiting?.resolve(reply.placed);
  }

  /** A content security policy may reject a worker only after it was created. */
  private fallBack(): void {
    this.worker.terminate();
    this.fallback = new PageOffice(this.url);
    for (const { lane, box, resolve, reject } of this.waiting.values()) {
      this.fallback.place(lane, box).then(resolve, reject);
    }
    this.waiting.clear();
  }
}

/** Yields to the page between two groups. */
const breathe = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 0));

/** A page that has run the worker's code. */
interface Page {
  [PLACER]: () => Promise<Placer>;
}

class PageOffice implements Office {
  private readonly lanes: Promise<Lanes>;

  /** @param url of the worker's code; null where there is none */
  constructor(url: string | null) {
    const placer = url
      ? import(/* @vite-ignore */ url).then(() => (globalThis as unknown as Page)[PLACER]())
      : Promise.resolve(new Placer(null));
    this.lanes = placer.catch(() => new Placer(null)).then((placer) => new Lanes(placer, breathe));
  }

  async place(lane: number, box: LayoutBox): Promise<Placed | null> {
    return (await this.lanes).place(lane, box);
  }

  drop(lane: number): void {
    void this.lanes.then((ready) => ready.drop(lane));
  }
}
