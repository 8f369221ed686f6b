/**
 * Which items of a drawing are open: requests layouts, and puts the resulting scenes on the stage.
 * Imports neither the store nor a component.
 */

import { type Signal, signal } from "@preact/signals";
import { type Item, openAbove } from "../forest/items";
import { capped, counted, reasonOf } from "../format";
import {
  afterOpening,
  type Camera,
  firstView,
  isLegible,
  type Legibility,
  READING,
  reveal,
  showAll,
  shows,
  UNCUT,
} from "./camera";
import { type Drawing, firstOpen } from "./drawing";
import type { Layouter } from "./layout";
import type { LayoutBox } from "./layout_types";
import { shownFor } from "./marks";
import { closedBoxes, HEADER, type Scene, type SceneBox, SIGN, settling, TITLE } from "./scene";
import { layingOut, sketching } from "./sketch";
import { SIDES, type Stage } from "./stage";
import { unhurried } from "./steps";

/** After this long, the view says that a layout is in progress. */
const SLOW_MS = 150;
const LONGEST_NAME = 80;

export class Folding {
  readonly scene: Signal<Scene | null> = signal(null);
  readonly busy: Signal<boolean> = signal(false);
  /** Why there is no picture, in a sentence; null if there is one. */
  readonly problem: Signal<string | null> = signal(null);
  /** The item that opened or closed last, for screen readers. */
  readonly said: Signal<string> = signal("");
  /** How large the graph is to be shown at first. */
  legibility = READING;
  private drawing: Drawing | null = null;
  /** The drawing that the scene is of. */
  private shown: Drawing | null = null;
  /** Open items in the newest requested layout, which may be in progress. */
  private open: ReadonlySet<string> = new Set();
  /** What is open in the scene. */
  private settled: ReadonlySet<string> = new Set();
  /** What is to be brought into view once it has a place. */
  private goal: Item | null = null;
  /** Whether what is being laid out is to be looked at as if for the first time. */
  private owed = false;
  /** Whether the whole scene was requested, however small it becomes. */
  private whole = false;
  /** What to lay out once the view has a size: what is legible depends on it. */
  private unsized: readonly ReadonlySet<string>[] = [];
  private generation = 0;

  constructor(
    private readonly stage: Stage,
    private readonly layouter: Layouter,
  ) {}

  /** Discards a layout that is in progress. */
  dispose(): void {
    this.generation += 1;
    this.layouter.dispose();
  }

  clear(): void {
    this.generation += 1;
    this.drawing = null;
    this.scene.value = null;
    this.stage.show(null);
  }

  /**
   * Shows another drawing. Until it has a layout, clicks are ignored: the canvas still shows the
   * previous program, whose nodes are different.
   *
   * @param again whether it is of what is shown already: what is open stays so
   * @param whole whether all of it is to be open
   */
  show(drawing: Drawing, again: boolean, whole: boolean): void {
    this.drawing = drawing;
    this.goal = null;
    if (!again) this.scene.value = null;
    const { forest } = drawing;
    if (whole) void this.layOut(new Set(forest.openable.keys()), null, true);
    else if (again && !this.owed) void this.layOut(this.open);
    else {
      const [first = new Set<string>(), ...less] = firstOpen(forest);
      void this.layOut(first, null, !again, less);
    }
  }

  /** Opens (an op with its branches) or closes an item, which stays in its place if it can. */
  async toggle(item: Item): Promise<void> {
    const name = capped(item.title, LONGEST_NAME);
    if (item.children.length === 0) {
      this.said.value = `${name} holds no ops`;
      return;
    }
    const open = new Set(this.open);
    if (!open.delete(item.key)) {
      open.add(item.key);
      for (const each of item.children) if (each.kind === "branch") open.add(each.key);
    }
    await this.layOut(open, item);
    this.say(open, `${name} ${open.has(item.key) ? "opened" : "closed"}`);
  }

  async expandAll(): Promise<void> {
    const open = new Set(this.drawing?.forest.openable.keys());
    await this.layOut(open, null, true);
    this.say(open, "All opened");
  }

  /** Opens items, and what they are in. */
  async openItems(items: readonly Item[]): Promise<void> {
    const open = new Set(this.open);
    for (const item of items) {
      openAbove(item, open);
      if (item.children.length > 0) open.add(item.key);
    }
    if (open.size > this.open.size) await this.layOut(open);
  }

  async collapseAll(): Promise<void> {
    const open = new Set<string>();
    await this.layOut(open, null, true);
    this.say(open, "All closed");
  }

  /** Once it is what the scene shows: another layout can have come between, or none have come. */
  private say(open: ReadonlySet<string>, what: string): void {
    const scene = this.scene.peek();
    if (!scene || this.settled !== open) return;
    const closed = [...scene.boxOf.values()].filter((box) => !box.open && box.item.kind !== "port");
    this.said.value = `${what}: ${counted(closed.length, "box", "boxes")} in the graph`;
  }

  /** Opens what hides an item, and brings it into view. */
  async reveal(item: Item): Promise<void> {
    const open = new Set(this.open);
    openAbove(item, open);
    const underWay = this.open !== this.settled;
    if (underWay || open.size > this.open.size) this.goal = item;
    else this.goTo(item);
    if (open.size > this.open.size) await this.layOut(open);
  }

  /** The innermost box at a point of the view, as far as it is of the drawing. */
  boxAt(viewX: number, viewY: number): SceneBox | null {
    return this.scene.peek() && this.stage.boxAt(viewX, viewY);
  }

  /** Brings an item into view: its box, or its top where that is too large. */
  goTo(item: Item): void {
    const scene = this.scene.peek();
    const box = scene && this.boxOf(shownFor(scene, item));
    if (box) this.stage.glideTo(reveal(this.stage.camera, box, this.stage.size));
  }

  boxOf(item: Item | null): SceneBox | null {
    return (item && this.scene.peek()?.boxOf.get(item)) ?? null;
  }

  /** Whether a point of the view is on what opens a box, or closes an open one. */
  isOnSign(box: SceneBox, viewX: number, viewY: number): boolean {
    const { x, y } = this.stage.pointAt(viewX, viewY);
    if (box.item.children.length === 0) return false;
    if (box.open) return y < box.y + HEADER && x < box.x + 24;
    return x > box.x + box.width - SIGN - 6 && y < box.y + TITLE + 2;
  }

  /** All of the graph; for a room, as much of it as is legible. */
  fit(): void {
    const scene = this.scene.peek();
    if (!scene) return;
    this.whole = this.legibility === READING;
    this.stage.fitTo(this.fittedCamera(scene), true);
  }

  /** After a resize, the scene is fitted again unless the user has moved. */
  lookAgain(): void {
    const scene = this.scene.peek();
    if (!scene) return;
    const [first, ...less] = this.unsized;
    this.unsized = [];
    if (this.stage.isFitted()) this.stage.fitTo(this.fittedCamera(scene, this.refitted()), false);
    if (first && this.settled === first) void this.layOut(first, null, true, less);
  }

  /**
   * Lays out with exactly these items open.
   *
   * @param keep an item that has been opened or closed
   * @param afresh whether to look at it as if for the first time
   * @param less what to have open in place of it, as long as all of it is not legible at once
   */
  private async layOut(
    open: ReadonlySet<string>,
    keep: Item | null = null,
    afresh = false,
    less: readonly ReadonlySet<string>[] = [],
  ): Promise<void> {
    const { drawing, stage } = this;
    if (!drawing) return;
    const generation = ++this.generation;
    this.owed ||= afresh;
    this.open = open;
    const late = setTimeout(() => {
      this.busy.value = true;
    }, SLOW_MS);
    try {
      const isWanted = (): boolean => generation === this.generation;
      const sketched = unhurried(this.sketched(drawing, open), isWanted);
      const boxes = sketched instanceof Promise ? await sketched : sketched;
      if (!boxes) return; // overtaken by another layout
      performance.mark("tx:layout-asked");
      const placed = await this.layouter.place(boxes.layout);
      if (!isWanted() || !placed) return;
      const settled = await unhurried(settling(boxes.root, placed), isWanted);
      if (!isWanted() || !settled) return;
      const { scene } = settled;
      const [next, ...rest] = less;
      if (next && !isLegible(scene, stage.size, this.legibility)) {
        await this.layOut(next, keep, afresh, rest);
        return;
      }
      this.unsized = next && stage.size.width === 0 ? [open, ...less] : [];
      const before = this.boxOf(keep);
      settled.move();
      this.settled = open;
      this.shown = drawing;
      this.scene.value = scene;
      this.problem.value = null;
      if (this.owed) this.whole = false;
      stage.show(scene, this.owed ? this.fittedCamera(scene) : this.kept(keep, before), this.owed);
      this.owed = false;
      if (this.goal) this.goTo(this.goal);
      this.goal = null;
      performance.mark("tx:painted");
    } catch (error) {
      if (generation !== this.generation) return;
      this.open = this.settled;
      this.problem.value = `The graph could not be laid out: ${reasonOf(error)}`;
    } finally {
      clearTimeout(late);
      if (generation === this.generation) this.busy.value = false;
    }
  }

  /** The boxes with these items open, and what their layout has to know. */
  private *sketched(
    drawing: Drawing,
    open: ReadonlySet<string>,
  ): Generator<void, { root: SceneBox; layout: LayoutBox }> {
    const { scene, settled } = this;
    const shown = scene.peek();
    const before = drawing === this.shown && shown ? { boxOf: shown.boxOf, open: settled } : null;
    const root = yield* sketching(drawing, open, this.stage.measure, before);
    return { root, layout: yield* layingOut(root) };
  }

  /** The camera after an item at `before` was opened or closed. */
  private kept(item: Item | null, before: SceneBox | null): Camera {
    const { camera, size } = this.stage;
    const after = this.boxOf(item);
    if (!before || !after) return camera;
    const moved = { ...camera, x: camera.x + after.x - before.x, y: camera.y + after.y - before.y };
    return after.open ? afterOpening(moved, after, size) : reveal(moved, after, size);
  }

  /** A scene that was visible as a whole stays so in a slightly smaller view, if no text is cut. */
  private refitted(): Legibility {
    const { legibility } = this;
    const beyond = this.stage.beyond.peek();
    const wasWhole = beyond !== null && SIDES.every((side) => beyond[side] === 0);
    return wasWhole ? { ...legibility, whole: Math.min(UNCUT, legibility.whole) } : legibility;
  }

  /** The whole scene if requested or legible; if not, the place to begin reading. */
  private fittedCamera(scene: Scene, legibility = this.legibility): Camera {
    const { size } = this.stage;
    if (this.whole) return showAll({ ...scene.root, x: 0, y: 0 }, size);
    const middle = middleOf(scene, size.width);
    const camera = firstView(scene, closedBoxes(scene.root), middle, size, legibility);
    const sought = this.shown?.sought;
    const box = sought ? this.boxOf(shownFor(scene, sought)) : null;
    return box && !shows(camera, box, size) ? reveal(camera, box, size) : camera;
  }
}

/**
 * The middle of the initial view: the first input and the box with most ops, if both fit; else
 * that box, or the input if no box has most ops.
 */
function middleOf(scene: Scene, width: number): number {
  const [first] = scene.root.children;
  let main = scene.root;
  while (main.open && main.children.length > 0) {
    main = main.children.reduce((most, each) => (each.item.ops > most.item.ops ? each : most));
  }
  if (!first) return scene.width / 2;
  if (2 * main.item.ops < scene.root.item.ops) return first.x + first.width / 2;
  const left = Math.min(first.x, main.x);
  const right = Math.max(first.x + first.width, main.x + main.width);
  return right - left < width ? (left + right) / 2 : main.x + main.width / 2;
}
