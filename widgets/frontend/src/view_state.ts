/** View state of one widget: the selection, the open panes, the lines in view. Needs no kernel. */

import { batch, type Signal, signal } from "@preact/signals";
import type { Rung } from "./ladder/stage_program";
import type { TensorRequest } from "./messages.gen";
import type { NodeId } from "./program";
import type { Place, Selection } from "./selection";
import type { Shown } from "./stages";

/** Where a selection was made, so that a pane does not scroll away under the user's pointer. */
export type Origin =
  | "graph"
  | "outline"
  | "source"
  | "signature"
  | "shapes"
  | "findings"
  | "guarantees"
  | "runs"
  | "cost"
  | "values"
  | "stages"
  | "delegate"
  | "differences"
  | "code"
  | "inspector"
  | "editor";

/** The panes of the right side: facts, and texts. */
export type Facts =
  | "inspector"
  | "signature"
  | "shapes"
  | "findings"
  | "guarantees"
  | "runs"
  | "cost"
  | "values"
  | "stages"
  | "delegate"
  | "differences";
export type Text = "source" | "code";
export type Tab = Facts | Text;
/** The part that a line of Python may open: a pane, or the layout for teaching. */
export type Opened = Tab | "teaching";

/** The shown part of an op's tensor: the run, the axes, the position on the others, the cell. */
export interface TensorPlace {
  readonly node: NodeId;
  readonly side: TensorRequest["side"];
  readonly rows: number;
  readonly columns: number;
  readonly index: number[];
  readonly cell: number[];
}

const NOTHING: Selection = { kind: "none" };
const MOST_PAST = 100;

const isSame = (one: Selection, other: Selection): boolean =>
  JSON.stringify(one) === JSON.stringify(other);

export class ViewState {
  readonly selection: Signal<Selection> = signal(NOTHING);
  readonly origin: Signal<Origin | null> = signal(null);
  /** Earlier selections, and later ones after going back; the newest last. */
  readonly past: Signal<readonly Selection[]> = signal([]);
  readonly future: Signal<readonly Selection[]> = signal([]);
  /** Scopes that the graph has open; and the modules that it is to open, by their paths. */
  readonly openScopes: Signal<readonly number[]> = signal([]);
  readonly toOpen: Signal<readonly string[]> = signal([]);
  /** The node under the pointer, in any pane; never waits for the kernel. */
  readonly hovered: Signal<NodeId | null> = signal(null);
  /** Whether ops that only check or compute sizes are shown, in every pane. */
  readonly housekeeping: Signal<boolean> = signal(false);
  /** The query of the outline. */
  readonly query: Signal<string> = signal("");
  /** The pane of the right side that was opened last, and of each kind the one that is open. */
  readonly tab: Signal<Tab> = signal("inspector");
  readonly facts: Signal<Facts> = signal("inspector");
  readonly text: Signal<Text> = signal("source");
  /** Whether the list of all commands is open. */
  readonly commands: Signal<boolean> = signal(false);
  /** Whether there are only graph and Source, or a failure, in large type: what a room looks at. */
  readonly teaching: Signal<boolean> = signal(false);
  /** The file chosen for Source; null lets it follow the selection. */
  readonly file: Signal<number | null> = signal(null);
  /** The line chosen for Source. */
  readonly place: Signal<Place | null> = signal(null);
  /** The decoration that was chosen to colour by; null: the first there is, `none` for none. */
  readonly chosen: Signal<string | null> = signal(null);
  /** The most of what is coloured by that one closed box of the graph has; 0 for nothing. */
  readonly most: Signal<number> = signal(0);

  /** The tensor in view; kept while panes change places. */
  readonly tensorPlace: Signal<TensorPlace | null> = signal(null);
  /** The compilation whose stages are shown; -1 for the last one. */
  readonly compilation: Signal<number> = signal(-1);
  /** What the pane shows of it, and the compilation that it is compared with; -1 for none. */
  readonly stagesShown: Signal<Shown> = signal({ kind: "kernels" });
  readonly baseline: Signal<number> = signal(-1);
  /** The stage on the canvas, and the one next to it; null for none. */
  readonly rung: Signal<Rung> = signal("exported");
  readonly besideRung: Signal<Rung | null> = signal(null);
  /** The kernel that was chosen last, of the compilation; -1 for none. */
  readonly kernel: Signal<number> = signal(-1);
  /** The run that Values compares with. */
  readonly against: Signal<string> = signal("eager");

  select(selection: Selection, origin: Origin): void {
    batch(() => {
      this.remember(selection);
      this.selection.value = selection;
      this.origin.value = origin;
      if (origin !== "source") this.file.value = null;
      this.place.value = null;
    });
  }

  /** Selects a kernel, and what of the program belongs to it. */
  selectKernel(kernel: number, selection: Selection): void {
    batch(() => {
      this.kernel.value = kernel;
      this.select(selection, "stages");
    });
  }

  /** Forgets which compilation and kernel were chosen: there are others now. */
  forgetStages(): void {
    batch(() => {
      this.compilation.value = -1;
      this.baseline.value = -1;
      this.stagesShown.value = { kind: "kernels" };
      this.kernel.value = -1;
    });
  }

  /** Shows a stage of the compilation on the canvas; the one next to it stays unless named. */
  showRung(rung: Rung, beside: Rung | null = this.besideRung.peek()): void {
    batch(() => {
      this.rung.value = rung;
      this.besideRung.value = beside === rung ? null : beside;
    });
  }

  /** Selects the line under the cursor of an editor. Cursor steps are not in the history. */
  follow(selection: Selection): void {
    const followed = this.origin.peek() === "editor" && this.selection.peek().kind !== "none";
    if (selection.kind === "none" && !followed) return;
    batch(() => {
      if (!followed) this.remember(selection);
      this.selection.value = selection;
      this.origin.value = "editor";
      this.file.value = null;
      this.place.value = null;
    });
  }

  /** Selects again what was selected before. */
  back(): void {
    this.step(this.past, this.future);
  }

  /** Selects again what was gone back from. */
  forward(): void {
    this.step(this.future, this.past);
  }

  /** Keeps what is selected, where something else is to be. */
  private remember(next: Selection): void {
    const now = this.selection.peek();
    if (now.kind === "none" || isSame(now, next)) return;
    this.past.value = [...this.past.peek().slice(1 - MOST_PAST), now];
    this.future.value = [];
  }

  private step(from: Signal<readonly Selection[]>, to: Signal<readonly Selection[]>): void {
    const next = from.peek().at(-1);
    const now = this.selection.peek();
    if (!next) return;
    batch(() => {
      from.value = from.peek().slice(0, -1);
      if (now.kind !== "none") to.value = [...to.peek(), now];
      this.selection.value = next;
      this.origin.value = null;
      this.file.value = null;
      this.place.value = null;
    });
  }

  /** Opens a pane of the right side. */
  open(tab: Tab): void {
    batch(() => {
      this.tab.value = tab;
      if (tab !== "source") this.teaching.value = false;
      if (tab === "source" || tab === "code") this.text.value = tab;
      else this.facts.value = tab;
    });
  }

  /** Shows a line in Source; what is selected stays so. */
  goTo(file: number, line: number): void {
    batch(() => {
      this.file.value = file;
      this.place.value = { file, line };
      this.open("source");
    });
  }

  /** Shows another file in Source. */
  showFile(file: number): void {
    batch(() => {
      this.file.value = file;
      this.place.value = null;
    });
  }

  /** Forgets all selections: those of another program mean nothing. */
  forget(): void {
    batch(() => {
      this.clear();
      this.past.value = [];
      this.future.value = [];
    });
  }

  /** Colours by a decoration, by its name; `none` for none. */
  colourBy(name: string): void {
    this.chosen.value = name;
  }

  clear(): void {
    batch(() => {
      this.remember(NOTHING);
      this.selection.value = NOTHING;
      this.file.value = null;
      this.place.value = null;
    });
  }
}
