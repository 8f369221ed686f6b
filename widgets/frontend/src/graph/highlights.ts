/**
 * The highlights of the graph: the selection, the hovered box, paths and decorations. Computed again
 * when the scene or the store changes.
 */

import { type ReadonlySignal, type Signal, signal } from "@preact/signals";
import type { Sides } from "../forest/differing";
import type { Item } from "../forest/items";
import type { NodeId } from "../program";
import type { Store } from "../store";
import { AFTER, BEFORE, BOTH, type Merged } from "../two_programs";
import { type Decorations, decorate, UNDECORATED } from "./decorated";
import type { Drawing } from "./drawing";
import type { Link } from "./links";
import { type Marks, marksOf, NO_MARKS, shownFor } from "./marks";
import type { Scene } from "./scene";
import type { Stage } from "./stage";
import { writerOf } from "./writer";

/** What is on the canvas. */
interface Shown {
  drawing: Drawing | null;
  scene: Scene | null;
}

export class Highlights {
  /** Whether all that leads to the selection or follows from it is highlighted. */
  readonly showPath: Signal<boolean> = signal(false);
  private pointed: Item | null = null;
  private made: { scene: Scene; marks: Marks } | null = null;
  private madeBefore: { of: Marks; marks: Marks } | null = null;

  constructor(
    private readonly store: Store,
    private readonly compared: ReadonlySignal<Merged | null>,
    private readonly stage: Stage,
    private readonly shown: () => Shown,
  ) {}

  togglePath(): void {
    this.showPath.value = !this.showPath.value;
  }

  /** Takes note of what is under the pointer; false where that is known. */
  point(item: Item | null): boolean {
    if (item === this.pointed) return false;
    this.pointed = item;
    this.renew();
    return true;
  }

  /** Reads what highlights depend on, for an effect, and makes them again. */
  follow(): void {
    const { store } = this;
    store.arrangement.value;
    store.hovered.value;
    store.decorations.value;
    store.colouring.value;
    this.showPath.value;
    this.renew();
  }

  /** Makes them again with the next picture. */
  renew(): void {
    this.made = null;
    this.stage.repaintAll();
  }

  /** The nodes that belong to the selection, those that only the program before has among them. */
  lit(): ReadonlySet<NodeId> {
    const selection = this.store.selection.peek();
    if (selection.kind !== "removed") return this.store.lit.peek().nodes;
    const node = this.compared.peek()?.merged.get(selection.node);
    return new Set(node === undefined ? [] : [node]);
  }

  marks(): Marks {
    const { store } = this;
    const { drawing, scene } = this.shown();
    if (!drawing || !scene) return NO_MARKS;
    if (this.made?.scene === scene) return this.made.marks;
    const elsewhere = drawing.forest.itemOf.get(store.hovered.peek() ?? -1);
    const beside = store.arrangement.peek() === "beside" && this.compared.peek() !== null;
    const made = marksOf(drawing, scene, {
      selection: store.selection.peek(),
      nodes: this.lit(),
      hovered: this.pointed ?? (elsewhere ? shownFor(scene, elsewhere) : null),
      showPath: this.showPath.peek(),
      sides: beside ? AFTER : BOTH,
      decorations: store.decorations.peek(),
      colouring: store.colouring.peek(),
    });
    const marks = beside ? { ...made, ...this.wordsOn("after") } : made;
    store.most.value = marks.decorations.most;
    this.made = { scene, marks };
    return marks;
  }

  /** The same for the earlier program, next to the other. */
  before(): Marks {
    const of = this.marks();
    if (this.madeBefore?.of !== of) {
      const decorations = this.decorationsBefore();
      const marks = { ...of, sides: BEFORE, decorations, ...this.wordsOn("before") };
      this.madeBefore = { of, marks };
    }
    return this.madeBefore.marks;
  }

  /** Texts of boxes and edges for one of two programs. */
  private wordsOn(side: keyof Sides): Pick<Marks, "textOf" | "wordsOf"> {
    const { drawing } = this.shown();
    const writer = drawing && writerOf(drawing, this.stage.measure);
    return {
      wordsOf: (item: Item) => writer?.boxOn(side, item) ?? null,
      textOf: (link: Link) => writer?.edgeOn(side, link) ?? null,
    };
  }

  /** The decorations of the program before, which must not show what is known only of the other. */
  private decorationsBefore(): Decorations {
    const { drawing, scene } = this.shown();
    if (!drawing || !scene) return UNDECORATED;
    const both = this.store.decorations.peek().filter(({ ofBoth }) => ofBoth);
    return decorate(scene, drawing.forest, both, null);
  }
}
