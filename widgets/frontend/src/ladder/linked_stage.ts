/** A stage of a compilation with its own store, whose selection follows the program's. */

import { effect, untracked } from "@preact/signals";
import type { AttemptHead, Host, Layout } from "../host";
import type { Selection } from "../selection";
import { Store } from "../store";
import type { StageProgram } from "./stage_program";

export class LinkedStage {
  readonly store = new Store(new StageHost());
  /** The last selection here, as nodes of the program. */
  private given: Selection | null = null;
  private readonly stops: (() => void)[];

  /**
   * @param main the store of the exported program
   */
  constructor(
    private readonly main: Store,
    readonly stage: StageProgram,
  ) {
    this.store.program.value = stage.program;
    this.store.status.value = { kind: "ready" };
    this.stops = [effect(() => this.follow()), effect(() => this.lead())];
  }

  dispose(): void {
    for (const stop of this.stops) stop();
    this.store.dispose();
  }

  /** Lights here what comes from the selection of the program. */
  private follow(): void {
    const selection = this.main.selection.value;
    const lit = this.main.lit.value.nodes;
    const kernel = this.main.kernel.value;
    untracked(() => {
      if (selection === this.given) return;
      this.given = null;
      const origin = this.main.origin.peek() ?? "stages";
      const own = kernel >= 0 && origin === "stages" ? this.stage.nodesOf(kernel) : [];
      const nodes = own.length > 0 ? own : this.stage.offspringOf(lit);
      if (nodes.length > 0) this.store.select({ kind: "nodes", nodes }, "stages");
      else if (this.store.selection.peek().kind !== "none") this.store.clear();
    });
  }

  /** Selects in the program what the ops that are chosen here come from. */
  private lead(): void {
    const selection = this.store.selection.value;
    const origin = this.store.origin.value;
    untracked(() => {
      if (origin !== "graph") return;
      const nodes = [...this.store.lit.peek().nodes];
      const kernel = this.stage.kernelAt(nodes);
      this.given = this.asProgram(selection, nodes);
      this.main.selectKernel(kernel, this.given);
    });
  }

  private asProgram(selection: Selection, nodes: readonly number[]): Selection {
    if (selection.kind === "scope" || selection.kind === "none") return { ...selection };
    const origins = this.stage.originsOf(nodes);
    return origins.length > 0 ? { kind: "nodes", nodes: origins } : { kind: "none" };
  }
}

/** A stage makes no requests: all of it is in the Record of the program. */
class StageHost implements Host {
  readonly layout: Layout = "graph";
  readonly attempts: readonly AttemptHead[] = [];
  readonly current = 0;
  readonly compared = -1;
  readonly live = false;
  readonly lost = "";

  ask(): Promise<never> {
    return Promise.reject(new Error("A stage shows only its ops and kernels."));
  }

  onChange(): () => void {
    return () => {};
  }

  onProgress(): () => void {
    return () => {};
  }
}
