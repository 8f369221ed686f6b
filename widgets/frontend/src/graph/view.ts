/**
 * One graph on one stage: keeps what is open and what is selected, asks for layouts, and hands
 * finished scenes to the Stage. Knows no component.
 */

import { computed, effect, type ReadonlySignal, type Signal, signal } from "@preact/signals";
import { surroundings } from "../compare/marked";
import { AFTER, BEFORE, BOTH, type Merged } from "../compare/merged";
import { reasonOf } from "../format";
import { costsOf, costText } from "../profile";
import type { NodeId, Program } from "../program";
import type { Store } from "../store";
import { afterOpening, type Camera, firstView, reveal, sameCamera } from "./camera";
import { type Drawing, drawingOf, drawingOfBoth, firstOpen } from "./drawing";
import type { Options } from "./forest";
import { type Item, nodesBelow, openAbove } from "./items";
import { layouter } from "./layout";
import { type Marks, marksOf, NO_MARKS, shownFor } from "./marks";
import { tipOf } from "./pieces";
import { asPng, asSvg } from "./saving";
import { HEADER, layoutBox, type Scene, type SceneBox, SIGN, settle, sketch, TITLE } from "./scene";
import { Stage } from "./stage";
import { type Direction, stepFrom } from "./walk";

/** What "go to the selection" zooms in to at least. */
const READABLE_ZOOM = 0.9;
/** A layout that takes longer than this is said to be under way. */
const SLOW_MS = 150;

export class GraphView {
  readonly scene: Signal<Scene | null> = signal(null);
  readonly busy: Signal<boolean> = signal(false);
  /** Why there is no picture, in a sentence; null where there is one. */
  readonly problem: Signal<string | null> = signal(null);
  /** How many ops the options hide. */
  readonly hidden: Signal<number> = signal(0);
  readonly showPath: Signal<boolean> = signal(false);
  /** Whether parameters and buffers are boxes of their own. */
  readonly parameters: Signal<boolean> = signal(false);
  /** The two programs of which the graph is both; null where it is of one. */
  readonly compared: ReadonlySignal<Merged | null>;
  readonly stage: Stage;
  private open: ReadonlySet<string> = new Set();
  private drawing: Drawing | null = null;
  /** The attempt that is drawn; -1 for none, and for both of a comparison. */
  private drawn = -1;
  /** Whether what is being laid out is to be looked at as if for the first time. */
  private owed = false;
  /** Where a first look was from. */
  private looked: Camera = { x: 0, y: 0, zoom: 1 };
  private pointed: Item | null = null;
  private marked: Marks | null = null;
  private generation = 0;
  private readonly stops: (() => void)[];

  constructor(
    private readonly store: Store,
    canvas: HTMLCanvasElement,
    map: HTMLCanvasElement,
    housekeeping: ReadonlySignal<boolean>,
  ) {
    this.compared = computed(() =>
      store.arrangement.value === "alone" ? null : (store.comparison.value?.merged ?? null),
    );
    this.stage = new Stage(
      canvas,
      map,
      () => this.marks(),
      () => this.lookAgain(),
    );
    this.stops = [
      effect(() => {
        const options = {
          housekeeping: housekeeping.value,
          parameters: this.parameters.value,
        };
        this.rebuild(store.program.value, this.compared.value, options, store.onlyDifferent.value);
      }),
      effect(() => {
        store.arrangement.value;
        this.remark();
      }),
      effect(() => {
        store.lit.value;
        this.follow();
      }),
      effect(() => {
        store.hovered.value;
        this.showPath.value;
        this.store.heat.value;
        this.remark();
      }),
    ];
  }

  dispose(): void {
    this.generation += 1;
    for (const stop of this.stops) stop();
    this.stage.dispose();
  }

  /** A second canvas for the program before, in step with the first. Returns how to stop. */
  addBefore(canvas: HTMLCanvasElement): () => void {
    const marks = (): Marks => ({ ...this.marks(), sides: BEFORE });
    const stage = new Stage(canvas, null, marks, () => undefined);
    this.stage.join(stage);
    return () => stage.dispose();
  }

  /** Opens (an op with its branches) or closes an item, which stays in its place if it can. */
  async toggle(item: Item): Promise<void> {
    if (item.children.length === 0) return;
    const open = new Set(this.open);
    if (!open.delete(item.key)) {
      open.add(item.key);
      for (const each of item.children) if (each.kind === "branch") open.add(each.key);
    }
    await this.show(open, item);
  }

  async expandAll(): Promise<void> {
    const all = [...(this.drawing?.forest.byKey.values() ?? [])];
    const parents = all.filter((each) => each.children.length > 0);
    await this.show(new Set(parents.map((each) => each.key)), null, true);
  }

  async collapseAll(): Promise<void> {
    await this.show(new Set(), null, true);
  }

  zoomToSelection(): void {
    const box = this.boxOf(this.selected());
    const { camera, size } = this.stage;
    const zoom = Math.max(camera.zoom, READABLE_ZOOM);
    if (box) this.stage.glideTo(reveal({ ...camera, zoom }, box, size));
  }

  /** Whether a point of the view is on what opens a box, or closes an open one. */
  isOnSign(box: SceneBox, viewX: number, viewY: number): boolean {
    const { x, y } = this.stage.pointAt(viewX, viewY);
    if (box.item.children.length === 0) return false;
    if (box.open) return y < box.y + HEADER && x < box.x + 24;
    return x > box.x + box.width - SIGN - 6 && y < box.y + TITLE + 2;
  }

  hover(item: Item | null): void {
    if (item === this.pointed) return;
    this.pointed = item;
    const isShared = item !== null && item.node >= 0 && !this.isRemoved(item.node);
    this.store.hovered.value = isShared ? item.node : null;
    this.remark();
  }

  /** What the pointer's tooltip says over an item. */
  tip(item: Item | null): string {
    if (!item || !this.drawing) return "";
    const { program } = this.drawing;
    const cost = costText(program, nodesBelow(item));
    return [tipOf(program, item), cost].filter(Boolean).join("\n");
  }

  select(item: Item | null): void {
    const removed = item && this.compared.peek()?.removed.get(item.node);
    if (!item) this.store.clear();
    else if (typeof removed === "number") {
      this.store.select({ kind: "removed", node: removed }, "graph");
    } else if (item.node >= 0) this.store.select({ kind: "nodes", nodes: [item.node] }, "graph");
    else if (item.scope >= 0 && item.scope < this.scopes())
      this.store.select({ kind: "scope", scope: item.scope }, "graph");
    else {
      const nodes = nodesBelow(item).filter((node) => !this.isRemoved(node));
      this.store.select({ kind: "nodes", nodes }, "graph");
    }
  }

  /** Selects what an edge leads to or from, or what stands beside the selection. */
  step(direction: Direction): void {
    const scene = this.scene.peek();
    if (!scene || !this.drawing) return;
    const current = this.selected();
    const first = scene.root.children.find((box) => box.item.kind !== "port")?.item ?? null;
    const next = current ? stepFrom(scene, this.drawing.neighbours, current, direction) : first;
    if (!next) return;
    this.select(next);
    this.goTo(next);
  }

  /** Brings an item into view: its box, or its top where that is too large. */
  goTo(item: Item): void {
    const scene = this.scene.peek();
    const box = scene && this.boxOf(shownFor(scene, item));
    if (box) this.stage.glideTo(reveal(this.stage.camera, box, this.stage.size));
  }

  /** The first item that is selected, as far as it is on the canvas. */
  selected(): Item | null {
    return this.marks().lit.values().next().value ?? null;
  }

  /** The whole graph as it is open now, as an SVG document. */
  svg(): string {
    const { measure, palette } = this.stage;
    return asSvg(this.needScene(), palette, this.marks(), measure);
  }

  /** The whole graph as it is open now, as a PNG. */
  png(): Promise<Blob> {
    return asPng(this.needScene(), this.stage.palette, this.marks());
  }

  private needScene(): Scene {
    const scene = this.scene.peek();
    if (!scene) throw new Error("The graph is not drawn yet.");
    return scene;
  }

  private isRemoved(node: NodeId): boolean {
    return this.compared.peek()?.removed.has(node) ?? false;
  }

  /** How many scopes the program on screen has; behind them come those of the other. */
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
      this.scene.value = null;
      this.stage.show(null);
      return;
    }
    const attempt = compared ? -1 : this.store.shown;
    const same = this.drawing?.program === program || (attempt >= 0 && attempt === this.drawn);
    this.drawn = attempt;
    this.drawing = compared
      ? drawingOfBoth(compared, { ...options, only: only ? surroundings(compared) : null })
      : drawingOf(program, options);
    this.hidden.value = this.drawing.forest.hidden;
    this.pointed = null;
    const filtered = compared !== null && only;
    const open = filtered
      ? new Set(this.drawing.forest.byKey.keys())
      : same && !this.owed
        ? this.open
        : firstOpen(this.drawing.forest);
    void this.show(open, null, !same || filtered);
  }

  /**
   * Lays out with exactly these items open.
   *
   * @param keep an item that has been opened or closed
   * @param afresh whether to look at it as if for the first time
   */
  private async show(
    open: ReadonlySet<string>,
    keep: Item | null = null,
    afresh = false,
  ): Promise<void> {
    const { drawing, stage } = this;
    if (!drawing) return;
    const generation = ++this.generation;
    this.owed ||= afresh;
    const late = setTimeout(() => {
      this.busy.value = true;
    }, SLOW_MS);
    try {
      const boxes = sketch(drawing, open, stage.measure);
      performance.mark("tx:layout-asked");
      const placed = await layouter().place(layoutBox(boxes));
      if (generation !== this.generation) return; // overtaken by another layout
      const scene = settle(boxes, placed);
      const before = this.boxOf(keep);
      this.open = open;
      this.scene.value = scene;
      this.marked = null;
      this.problem.value = null;
      stage.show(scene, this.owed ? this.firstCamera(scene) : this.kept(keep, before));
      this.owed = false;
      performance.mark("tx:painted");
    } catch (error) {
      if (generation !== this.generation) return;
      this.problem.value = `The graph could not be laid out: ${reasonOf(error)}`;
    } finally {
      clearTimeout(late);
      if (generation === this.generation) this.busy.value = false;
    }
  }

  /** The camera after an item at `before` was opened or closed. */
  private kept(item: Item | null, before: SceneBox | null): Camera {
    const { camera, size } = this.stage;
    const after = this.boxOf(item);
    if (!before || !after) return camera;
    const moved = { ...camera, x: camera.x + after.x - before.x, y: camera.y + after.y - before.y };
    return after.open ? afterOpening(moved, after, size) : reveal(moved, after, size);
  }

  /** In a view of another size, who has not moved sees it as if for the first time. */
  private lookAgain(): void {
    const scene = this.scene.peek();
    const { camera } = this.stage;
    if (scene && sameCamera(camera, this.looked)) this.stage.moveTo(this.firstCamera(scene));
  }

  private firstCamera(scene: Scene): Camera {
    const first = scene.root.children[0];
    const middle = first ? first.x + first.width / 2 : scene.width / 2;
    this.looked = firstView(scene, middle, this.stage.size);
    return this.looked;
  }

  /** Opens what hides a selection that was made elsewhere, and brings it into view. */
  private follow(): void {
    this.remark();
    const { drawing } = this;
    const selection = this.store.selection.peek();
    const isOurs = this.store.origin.peek() === "graph";
    if (!drawing || isOurs || selection.kind === "none" || selection.kind === "symbol") return;
    const item = this.firstOf(drawing);
    if (!item) return;
    const open = new Set(this.open);
    openAbove(item, open);
    const ready = open.size === this.open.size ? Promise.resolve() : this.show(open);
    void ready.then(() => this.goTo(item));
  }

  /** What to bring into view of the selection: something shown already, where there is. */
  private firstOf({ forest }: Drawing): Item | null {
    const selection = this.store.selection.peek();
    if (selection.kind === "scope") {
      const scopes = [...forest.byKey.values()].filter((each) => each.scope === selection.scope);
      if (scopes[0]) return scopes[0];
    }
    const nodes = [...this.lit()];
    const items = nodes.flatMap((id) => forest.itemOf.get(id) ?? []);
    return items.find((item) => this.boxOf(item)) ?? items[0] ?? null;
  }

  private boxOf(item: Item | null): SceneBox | null {
    return (item && this.scene.peek()?.boxOf.get(item)) ?? null;
  }

  private remark(): void {
    this.marked = null;
    this.stage.repaintAll();
  }

  /** The nodes that belong to the selection, those that only the program before has among them. */
  private lit(): ReadonlySet<NodeId> {
    const selection = this.store.selection.peek();
    if (selection.kind !== "removed") return this.store.lit.peek().nodes;
    const node = this.compared.peek()?.merged.get(selection.node);
    return new Set(node === undefined ? [] : [node]);
  }

  private marks(): Marks {
    const { drawing, store } = this;
    const scene = this.scene.peek();
    if (!drawing || !scene) return NO_MARKS;
    const elsewhere = drawing.forest.itemOf.get(store.hovered.peek() ?? -1);
    this.marked ??= marksOf(drawing, scene, {
      selection: store.selection.peek(),
      nodes: this.lit(),
      hovered: this.pointed ?? (elsewhere ? shownFor(scene, elsewhere) : null),
      showPath: this.showPath.peek(),
      sides: store.arrangement.peek() === "beside" && this.compared.peek() ? AFTER : BOTH,
      costs: costsOf(drawing.program, store.heat.peek()),
    });
    return this.marked;
  }
}
