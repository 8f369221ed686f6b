/**
 * Connects the store to the graph: which program is drawn, what is highlighted in it, and what a
 * click selects. Imports no component.
 */

import {
  computed,
  effect,
  type ReadonlySignal,
  type Signal,
  signal,
  untracked,
} from "@preact/signals";
import { gathered, noteOf } from "../decorations/decoration";
import { surroundings } from "../forest/differing";
import type { Options } from "../forest/forest";
import { type Item, nodesBelow } from "../forest/items";
import { capped } from "../format";
import type { NodeId, Program } from "../program";
import type { Store } from "../store";
import type { Merged } from "../two_programs";
import { scopesOf } from "../view_in_python";
import { READING, type Rect, reveal, TEACHING } from "./camera";
import { type Drawing, drawingOf, drawingOfBoth } from "./drawing";
import { Folding } from "./folding";
import { nodesOfItem, nodesWithin, toggled } from "./gather";
import { Highlights } from "./highlights";
import { tipOf } from "./labels";
import { layouter } from "./layout";
import { asPng, asSvg } from "./saving";
import type { Scene } from "./scene";
import { Stage } from "./stage";
import { type Direction, stepFrom } from "./walk";

/** The smallest zoom after "go to the selection". */
const READABLE_ZOOM = 0.9;
const MOST_NOTE = 200;

export class GraphView {
  /** How many ops the options hide. */
  readonly hidden: Signal<number> = signal(0);
  /** Whether parameters and buffers are boxes of their own. */
  readonly parameters: Signal<boolean> = signal(false);
  /** An error from following the store or from painting; the pane rethrows it when it renders. */
  readonly trouble: Signal<{ error: unknown } | null> = signal(null);
  /** The two programs that are compared; null if the graph shows one. */
  readonly compared: ReadonlySignal<Merged | null>;
  readonly stage: Stage;
  readonly folding: Folding;
  readonly highlights: Highlights;
  private drawing: Drawing | null = null;
  /** The attempt that is drawn; -1 for none, and for both of a comparison. */
  private drawn = -1;
  private readonly stops: (() => void)[];

  constructor(
    private readonly store: Store,
    canvas: HTMLCanvasElement,
    map: HTMLCanvasElement,
  ) {
    this.compared = computed(() =>
      store.arrangement.value === "alone" ? null : (store.comparison.value?.merged ?? null),
    );
    this.stage = new Stage(
      canvas,
      map,
      () => this.highlights.marks(),
      () => this.folding.lookAgain(),
      this.failed,
    );
    this.folding = new Folding(this.stage, layouter());
    this.highlights = new Highlights(store, this.compared, this.stage, () => ({
      drawing: this.drawing,
      scene: this.folding.scene.peek(),
    }));
    this.stops = [
      this.follows(() => {
        const options = {
          housekeeping: store.housekeeping.value,
          parameters: this.parameters.value,
        };
        this.rebuild(store.program.value, this.compared.value, options, store.onlyDifferent.value);
      }),
      this.follows(() => this.tellOpen(this.folding.scene.value)),
      this.follows(() => {
        this.folding.legibility = store.teaching.value ? TEACHING : READING;
        this.folding.lookAgain();
      }),
      this.follows(() => {
        store.lit.value;
        this.follow();
      }),
      this.follows(() => this.highlights.follow()),
    ];
  }

  private readonly failed = (error: unknown): void => {
    this.trouble.value = { error };
  };

  /** An effect whose errors stay in this pane: other effects of the same signals still run. */
  private follows(run: () => void): () => void {
    return effect(() => {
      try {
        run();
      } catch (error) {
        untracked(() => this.failed(error));
      }
    });
  }

  dispose(): void {
    this.folding.dispose();
    for (const stop of this.stops) stop();
    this.stage.dispose();
  }

  /** A second canvas for the program before, in step with the first. Returns how to stop. */
  addBefore(canvas: HTMLCanvasElement): () => void {
    const stage = new Stage(
      canvas,
      null,
      () => this.highlights.before(),
      () => undefined,
      this.failed,
    );
    this.stage.join(stage);
    return () => stage.dispose();
  }

  zoomToSelection(): void {
    const box = this.folding.boxOf(this.selected());
    const { camera, size } = this.stage;
    const zoom = Math.max(camera.zoom, READABLE_ZOOM);
    if (box) this.stage.glideTo(reveal({ ...camera, zoom }, box, size));
  }

  hover(item: Item | null): void {
    if (!this.highlights.point(item)) return;
    const isShared = item !== null && item.node >= 0 && !this.isRemoved(item.node);
    this.store.hovered.value = isShared ? item.node : null;
  }

  /** The tooltip of an item. */
  tip(item: Item | null): string {
    if (!item || !this.drawing) return "";
    const { program, forest } = this.drawing;
    const notes = this.store.decorations.peek().map((each) => {
      const mark = gathered(each, forest).get(item);
      return mark ? capped(noteOf(each, mark), MOST_NOTE) : "";
    });
    return [tipOf(program, item), ...notes].filter(Boolean).join("\n");
  }

  select(item: Item | null): void {
    const removed = item && this.compared.peek()?.removed.get(item.node);
    if (!item) this.store.clear();
    else if (typeof removed === "number") {
      this.store.select({ kind: "removed", node: removed }, "graph");
    } else if (item.node >= 0) this.store.select({ kind: "nodes", nodes: [item.node] }, "graph");
    else if (item.scope >= 0 && item.scope < this.scopes())
      this.store.select({ kind: "scope", scope: item.scope }, "graph");
    else this.selectNodes(nodesBelow(item));
  }

  /** Adds a box to the selection, or takes it out again. */
  add(item: Item): void {
    this.selectNodes(toggled(this.highlights.lit(), nodesOfItem(item)));
  }

  /** Selects items that a frame touches, in CSS pixels of the view. */
  selectWithin(frame: Rect): void {
    const scene = this.folding.scene.peek();
    const { camera } = this.stage;
    const [width, height] = [frame.width / camera.zoom, frame.height / camera.zoom];
    const seen = { ...this.stage.pointAt(frame.x, frame.y), width, height };
    if (scene) this.selectNodes(nodesWithin(scene, seen));
  }

  private selectNodes(all: readonly NodeId[]): void {
    const nodes = all.filter((node) => !this.isRemoved(node));
    if (nodes.length > 0) this.store.select({ kind: "nodes", nodes }, "graph");
    else this.store.clear();
  }

  /** Selects the other end of an edge, or a sibling of the selection. */
  step(direction: Direction): void {
    const scene = this.folding.scene.peek();
    if (!scene || !this.drawing) return;
    const current = this.selected();
    const first = scene.root.children.find((box) => box.item.kind !== "port")?.item ?? null;
    const next = current ? stepFrom(scene, this.drawing.links, current, direction) : first;
    if (!next) return;
    this.select(next);
    this.folding.goTo(next);
  }

  /** The first selected item that is on the canvas. */
  selected(): Item | null {
    return this.highlights.marks().lit.values().next().value ?? null;
  }

  /** The whole graph as it is open now, as an SVG document. */
  svg(): string {
    const { measure, palette } = this.stage;
    return asSvg(this.needScene(), palette, this.highlights.marks(), measure);
  }

  /** The whole graph as it is open now, as a PNG. */
  png(): Promise<Blob> {
    return asPng(this.needScene(), this.stage.palette, this.highlights.marks());
  }

  private needScene(): Scene {
    const scene = this.folding.scene.peek();
    if (!scene) throw new Error("The graph is not drawn yet.");
    return scene;
  }

  private isRemoved(node: NodeId): boolean {
    return this.compared.peek()?.removed.has(node) ?? false;
  }

  /** How many scopes the program on screen has; the other program's are numbered after them. */
  private scopes(): number {
    return this.store.program.peek()?.record.scopes.length ?? 0;
  }

  private rebuild(
    shown: Program | null,
    compared: Merged | null,
    options: Options,
    only: boolean,
  ): void {
    const program = compared?.program ?? shown;
    if (!program || program.record.graphs.length === 0) {
      this.drawing = null;
      this.drawn = -1;
      this.folding.clear();
      return;
    }
    const attempt = compared ? -1 : this.store.current.peek();
    const same = this.drawing?.program === program || (attempt >= 0 && attempt === this.drawn);
    this.drawn = attempt;
    this.drawing = compared
      ? drawingOfBoth(compared, { ...options, only: only ? surroundings(compared) : null })
      : drawingOf(program, options);
    this.hidden.value = this.drawing.forest.hidden;
    this.highlights.point(null);
    this.folding.show(this.drawing, same, compared !== null && only);
    this.openWanted(program, this.drawing);
  }

  /** Opens items that were requested before there was a graph. */
  private openWanted(program: Program, { forest }: Drawing): void {
    const wanted = new Set(scopesOf(program, this.store.toOpen.peek()));
    this.store.toOpen.value = [];
    if (wanted.size === 0) return;
    const items = forest.items.filter(({ scope }) => wanted.has(scope));
    void this.folding.openItems(items);
  }

  private tellOpen(scene: Scene | null): void {
    const scopes: number[] = [];
    for (const { depth, item, open } of scene?.boxOf.values() ?? []) {
      if (open && depth > 0 && item.scope >= 0 && item.scope < this.scopes())
        scopes.push(item.scope);
    }
    this.store.openScopes.value = scopes;
  }

  /** Opens what hides a selection that was made elsewhere, and brings it into view. */
  private follow(): void {
    this.highlights.renew();
    const { drawing } = this;
    const selection = this.store.selection.peek();
    const isOurs = this.store.origin.peek() === "graph";
    if (!drawing || isOurs || selection.kind === "none" || selection.kind === "symbol") return;
    const item = this.firstOf(drawing);
    if (item) void this.folding.reveal(item);
  }

  /** Which part of the selection to bring into view: one that is already drawn, if any. */
  private firstOf({ forest }: Drawing): Item | null {
    const selection = this.store.selection.peek();
    if (selection.kind === "scope") {
      const [first] = forest.ofScopes([selection.scope]);
      if (first) return first;
    }
    const nodes = [...this.highlights.lit()];
    const items = nodes.flatMap((id) => forest.itemOf.get(id) ?? []);
    return items.find((item) => this.folding.boxOf(item)) ?? items[0] ?? null;
  }
}
