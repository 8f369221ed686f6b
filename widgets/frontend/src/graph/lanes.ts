/**
 * A fair queue of layout requests. Each view of the page has a lane that holds only its latest
 * request; lanes take turns group by group, so no view waits for all of another's layout.
 */

import type { Placer } from "./graphviz_layout";
import type { LayoutBox, Placed } from "./layout_types";

interface Job {
  steps: Generator<void, Placed>;
  resolve: (placed: Placed | null) => void;
  reject: (error: unknown) => void;
}

export class Lanes {
  /** The lane whose turn is next comes first. */
  private readonly jobs = new Map<number, Job>();
  private running = false;

  /** @param pause lets messages be handled between two groups */
  constructor(
    private readonly placer: Placer,
    private readonly pause: () => Promise<void>,
  ) {}

  /** Places a box; null where a newer request of the same lane superseded it. */
  place(lane: number, box: LayoutBox): Promise<Placed | null> {
    this.drop(lane);
    return new Promise((resolve, reject) => {
      this.jobs.set(lane, { steps: this.placer.steps(box), resolve, reject });
      void this.run();
    });
  }

  /** Drops a lane's request. */
  drop(lane: number): void {
    this.jobs.get(lane)?.resolve(null);
    this.jobs.delete(lane);
  }

  private async run(): Promise<void> {
    if (this.running) return;
    this.running = true;
    for (;;) {
      const [next] = this.jobs;
      if (!next) break;
      this.step(...next);
      if (this.jobs.size > 0) await this.pause();
    }
    this.running = false;
  }

  private step(lane: number, job: Job): void {
    this.jobs.delete(lane);
    try {
      const { done, value } = job.steps.next();
      if (done) job.resolve(value);
      else this.jobs.set(lane, job); // after all others
    } catch (error) {
      job.reject(error);
    }
  }
}
