/**
 * Takes turns between the views of a page: each has a lane, in which only what it asked for last is
 * laid out, one group at a time, so that no view waits for all of what another one wants.
 */

import type { LayoutBox, Placed } from "./layout_types";
import type { Placer } from "./place";

interface Job {
  steps: Generator<void, Placed>;
  resolve: (placed: Placed | null) => void;
  reject: (error: unknown) => void;
}

export class Lanes {
  /** The lane whose turn is next comes first. */
  private readonly jobs = new Map<number, Job>();
  private running = false;

  /** @param pause lets messages in between two groups */
  constructor(
    private readonly placer: Placer,
    private readonly pause: () => Promise<void>,
  ) {}

  /** Places a box; null where the same lane was asked for another since. */
  place(lane: number, box: LayoutBox): Promise<Placed | null> {
    this.drop(lane);
    return new Promise((resolve, reject) => {
      this.jobs.set(lane, { steps: this.placer.steps(box), resolve, reject });
      void this.run();
    });
  }

  /** Forgets what a lane asked for. */
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
      else this.jobs.set(lane, job); // behind all others
    } catch (error) {
      job.reject(error);
    }
  }
}
