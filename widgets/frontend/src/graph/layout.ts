/** Asks the layout worker; where a page refuses workers, does the work on the page's own thread. */

import workerCode from "./layout.worker.ts?worker";
import type { LayoutBox, LayoutReply, Placed } from "./layout_types";
import type { Placer } from "./place";

/** Places a box and all inside it. */
export interface Layouter {
  place(box: LayoutBox): Promise<Placed>;
}

let shared: Layouter | undefined;

/** The page's one layouter. Call it early: Graphviz takes a moment to start. */
export function layouter(): Layouter {
  shared ??= start();
  return shared;
}

function start(): Layouter {
  const url = URL.createObjectURL(new Blob([workerCode], { type: "text/javascript" }));
  try {
    return new WorkerLayouter(new Worker(url, { type: "module" }), url);
  } catch {
    return new PageLayouter(url);
  }
}

interface Waiting {
  box: LayoutBox;
  resolve: (placed: Placed) => void;
  reject: (error: Error) => void;
}

class WorkerLayouter implements Layouter {
  private readonly waiting = new Map<number, Waiting>();
  private fallback: PageLayouter | undefined;
  private next = 0;

  constructor(
    private readonly worker: Worker,
    private readonly url: string,
  ) {
    worker.onmessage = (event: MessageEvent<LayoutReply>) => this.receive(event.data);
    worker.onerror = () => this.fallBack();
  }

  place(box: LayoutBox): Promise<Placed> {
    if (this.fallback) return this.fallback.place(box);
    return new Promise((resolve, reject) => {
      const id = this.next++;
      this.waiting.set(id, { box, resolve, reject });
      this.worker.postMessage({ id, box });
    });
  }

  private receive(reply: LayoutReply): void {
    const waiting = this.waiting.get(reply.id);
    this.waiting.delete(reply.id);
    if ("error" in reply) waiting?.reject(new Error(reply.error));
    else waiting?.resolve(reply.placed);
  }

  /** A page's policy may refuse a worker only after it was made. */
  private fallBack(): void {
    this.worker.terminate();
    this.fallback = new PageLayouter(this.url);
    for (const { box, resolve, reject } of this.waiting.values()) {
      this.fallback.place(box).then(resolve, reject);
    }
    this.waiting.clear();
  }
}

class PageLayouter implements Layouter {
  private readonly placer: Promise<Placer>;

  constructor(url: string) {
    this.placer = import(/* @vite-ignore */ url).then((module: typeof import("./layout.worker")) =>
      module.loadPlacer(),
    );
  }

  async place(box: LayoutBox): Promise<Placed> {
    return (await this.placer).place(box);
  }
}
