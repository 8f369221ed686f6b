/**
 * One graph on one canvas: keeps what is open, where the camera is and what the scene looks like,
 * and paints when something of it has changed. Knows the page's canvas, but no component.
 */

import { effect, type ReadonlySignal, type Signal, signal } from "@preact/signals";
import type { NodeId, Program } from "../program";
import type { Store } from "../store";
import * as camera from "./camera";
import { buildForest, type Forest, type Item } from "./items";
import { layouter } from "./layout";
import { findLinks, type Links } from "./links";
import { MINIMAP, minimapScale, needsMinimap, paintMinimap } from "./minimap";
import { type Neighbours, neighboursOf, pathThrough } from "./neighbours";
import { type Marks, paint } from "./paint";
import { onThemeChange, type Palette, readPalette } from "./palette";
import { stackRepeats } from "./repeats";
import { asPng, asSvg } from "./saving";
import {
  boxAt,
  buildScene,
  HEADER,
  layoutBox,
  type Measure,
  type Scene,
  type SceneBox,
} from "./scene";
import { CanvasSurface } from "./surface";

const NO_ITEMS: ReadonlySet<Item> = new Set();
const GLIDE_MS = 160;

interface Drawn {
  program: Program;
  forest: Forest;
  links: Links;
  neighbours: Neighbours;
}

export class GraphView {
  readonly scene: Signal<Scene | null> = signal(null);
  readonly busy: Signal<boolean> = signal(false);
  readonly hidden: Signal<number> = signal(0);
  readonly open: Signal<ReadonlySet<string>> = signal(new Set());
  readonly showPath: Signal<boolean> = signal(false);
  readonly parameters: Signal<boolean> = signal(false);
  readonly crowded: Signal<boolean> = signal(false);
  private drawn: Drawn | null = null;
  private at: camera.Camera = { x: 0, y: 0, zoom: 1 };
  private size: camera.Size = { width: 0, height: 0 };
  private palette: Palette;
  private readonly context: CanvasRenderingContext2D;
  private readonly mapContext: CanvasRenderingContext2D;
  private hovered: Item | null = null;
  private frame = 0;
  private generation = 0;
  private readonly stops: (() => void)[] = [];

  constructor(
    private readonly store: Store,
    private readonly canvas: HTMLCanvasElement,
    private readonly map: HTMLCanvasElement,
    housekeeping: ReadonlySignal<boolean>,
  ) {
    this.context = context2d(canvas);
    this.mapContext = context2d(map);
    this.palette = readPalette(canvas);
    const observer = new ResizeObserver(() => this.resize());
    observer.observe(canvas);
    this.stops.push(
      () => observer.disconnect(),
      onThemeChange(() => this.retheme()),
      effect(() => this.rebuild(store.program.value, housekeeping.value, this.parameters.value)),
      effect(() => this.follow(store.lit.value.nodes)),
      effect(() => {
        store.hovered.value;
        this.showPath.value;
        this.repaint();
      }),
    );
    layouter();
  }

  dispose(): void {
    cancelAnimationFrame(this.frame);
    this.generation += 1;
    for (const stop of this.stops) stop();
  }

  /** Opens or closes an item; the item stays where it is on the screen. */
  async toggle(item: Item): Promise<void> {
    if (item.children.length === 0) return;
    const open = new Set(this.open.peek());
    if (!open.delete(item.key)) open.add(item.key);
    await this.openOnly(open, item);
  }

  async expandAll(): Promise<void> {
    const all = [...(this.drawn?.forest.byKey.values() ?? [])];
    await this.openOnly(new Set(all.filter((each) => each.children.length > 0).map((e) => e.key)));
    this.firstLook();
  }

  async collapseAll(): Promise<void> {
    await this.openOnly(new Set());
    this.firstLook();
  }

  fit(): void {
    const scene = this.scene.peek();
    if (scene) this.glide(camera.showAll({ x: 0, y: 0, ...scene }, this.size));
  }

  zoomBy(factor: number, x = this.size.width / 2, y = this.size.height / 2): void {
    this.moveTo(camera.zoomAt(this.at, factor, x, y));
  }

  zoomToSelection(): void {
    const boxes = [...this.marks().lit].flatMap((item) => this.scene.peek()?.boxOf.get(item) ?? []);
    const first = boxes[0];
    if (first)
      this.glide(
        camera.reveal({ ...this.at, zoom: Math.max(this.at.zoom, 0.9) }, first, this.size),
      );
  }

  panBy(x: number, y: number): void {
    this.moveTo({ ...this.at, x: this.at.x + x / this.at.zoom, y: this.at.y + y / this.at.zoom });
  }

  /** Goes to a point of the minimap, in its own pixels. */
  goTo(mapX: number, mapY: number): void {
    const scene = this.scene.peek();
    if (!scene) return;
    const scale = minimapScale(scene);
    const seen = camera.visible(this.at, this.size);
    this.moveTo({
      ...this.at,
      x: mapX / scale - seen.width / 2,
      y: mapY / scale - seen.height / 2,
    });
  }

  boxAt(viewX: number, viewY: number): SceneBox | null {
    const scene = this.scene.peek();
    const { x, y, zoom } = this.at;
    return scene && boxAt(scene, x + viewX / zoom, y + viewY / zoom);
  }

  /** Whether a point of the view is on a box's ▸ or on the header of an open one. */
  isOnSign(box: SceneBox, viewX: number, viewY: number): boolean {
    const x = this.at.x + viewX / this.at.zoom;
    const y = this.at.y + viewY / this.at.zoom;
    if (box.open) return y < box.y + HEADER && x < box.x + 24;
    return x > box.x + box.width - 24 && y < box.y + 26;
  }

  hover(item: Item | null): void {
    if (item === this.hovered) return;
    this.hovered = item;
    this.store.hovered.value = item && item.node >= 0 ? item.node : null;
    this.repaint();
  }

  select(item: Item): void {
    if (item.node >= 0) this.store.select({ kind: "nodes", nodes: [item.node] }, "graph");
    else if (item.scope >= 0) this.store.select({ kind: "scope", scope: item.scope }, "graph");
    else this.store.select({ kind: "nodes", nodes: nodesBelow(item) }, "graph");
  }

  /** Selects what an edge leads to or from, or what stands beside the selection. */
  step(direction: "up" | "down" | "left" | "right"): void {
    const scene = this.scene.peek();
    if (!scene || !this.drawn) return;
    const current = [...this.marks().lit][0];
    const box = current && scene.boxOf.get(current);
    if (!current || !box) {
      const first = scene.root.children[0];
      if (first) this.select(first.item);
      return;
    }
    const { before, after } = this.drawn.neighbours;
    const linked = direction === "up" ? before.get(current) : after.get(current);
    const vertical = direction === "up" || direction === "down";
    const next = vertical ? linked?.find((item) => item.kind !== "port") : undefined;
    const target = next ?? nearest(scene, box, direction);
    if (target) this.select(target);
  }

  /** The one item that is selected, as far as it is on the canvas. */
  selected(): Item | null {
    return [...this.marks().lit][0] ?? null;
  }

  svg(): string {
    const scene = this.needScene();
    return asSvg(scene, this.at, this.size, this.palette, this.marks(), this.measure);
  }

  png(): Promise<Blob> {
    return asPng(this.needScene(), this.at, this.size, this.palette, this.marks());
  }

  /** Milliseconds that each of some frames of panning takes to paint, for the benchmark. */
  timeFrames(frames: number): number[] {
    const times: number[] = [];
    const start = this.at;
    for (let index = 0; index < frames; index++) {
      const began = performance.now();
      this.at = { ...start, y: start.y + index * 6 };
      this.paintNow();
      times.push(performance.now() - began);
    }
    this.at = start;
    this.repaint();
    return times;
  }

  private needScene(): Scene {
    const scene = this.scene.peek();
    if (!scene) throw new Error("The graph is not drawn yet.");
    return scene;
  }

  private rebuild(program: Program | null, housekeeping: boolean, parameters: boolean): void {
    if (!program || program.record.graphs.length === 0) {
      this.drawn = null;
      this.scene.value = null;
      return;
    }
    const same = this.drawn?.program === program;
    const forest = buildForest(program, { housekeeping, parameters });
    stackRepeats(forest);
    const links = findLinks(program, forest);
    this.drawn = { program, forest, links, neighbours: neighboursOf(links) };
    this.hidden.value = forest.hidden;
    const open = same ? this.open.peek() : firstOpen(forest);
    void this.openOnly(open).then(() => !same && this.firstLook());
  }

  /** Lays out with exactly these items open. */
  private async openOnly(open: ReadonlySet<string>, keep?: Item): Promise<void> {
    const { drawn } = this;
    if (!drawn) return;
    const generation = ++this.generation;
    const before = keep && this.scene.peek()?.boxOf.get(keep);
    this.busy.value = true;
    try {
      const { program, forest, links } = drawn;
      const box = layoutBox(program, forest, links, open, this.measure);
      const placed = await layouter().place(box);
      if (generation !== this.generation) return; // overtaken by another layout
      const scene = buildScene(program, forest, links, open, placed, this.measure);
      const after = keep && scene.boxOf.get(keep);
      if (before && after) {
        const { x, y, zoom } = this.at;
        this.at = { x: x + after.x - before.x, y: y + after.y - before.y, zoom };
      }
      this.open.value = open;
      this.scene.value = scene;
      this.paintNow();
      performance.mark("tx:painted");
    } finally {
      if (generation === this.generation) this.busy.value = false;
    }
  }

  private firstLook(): void {
    const scene = this.scene.peek();
    if (!scene || this.size.width === 0) return;
    const { children } = scene.root;
    const first = children.find((box) => box.item.kind === "input") ?? children[0];
    const top = first ? first.x + first.width / 2 : scene.width / 2;
    this.moveTo(camera.firstView(scene, top, this.size));
  }

  /** Opens what hides the selection and brings it into view, unless it was made here. */
  private follow(nodes: ReadonlySet<NodeId>): void {
    const { drawn } = this;
    this.repaint();
    if (!drawn || nodes.size === 0 || (this.store.origin.peek() === "graph" && this.isShown(nodes)))
      return;
    const first = nodes.values().next().value;
    const item = first === undefined ? undefined : drawn.forest.itemOf.get(first);
    if (!item) return;
    const selection = this.store.selection.peek();
    const open = new Set(this.open.peek());
    if (selection.kind === "nodes" && nodes.size <= 20) openAbove(item, open);
    void this.whenOpen(open).then(() => {
      const box = this.scene.peek()?.boxOf.get(this.shownFor(item));
      if (box) this.glide(camera.reveal(this.at, box, this.size));
    });
  }

  private isShown(nodes: ReadonlySet<NodeId>): boolean {
    const scene = this.scene.peek();
    for (const id of nodes) {
      const item = this.drawn?.forest.itemOf.get(id);
      if (item && scene?.boxOf.has(item)) return true;
    }
    return nodes.size !== 1;
  }

  private async whenOpen(open: Set<string>): Promise<void> {
    if (open.size !== this.open.peek().size) await this.openOnly(open);
  }

  /** The innermost item on the canvas that an item is, or is inside of. */
  private shownFor(item: Item): Item {
    const scene = this.scene.peek();
    let shown: Item = item;
    while (shown.parent && !scene?.boxOf.has(shown)) shown = shown.parent;
    return shown;
  }

  private marks(): Marks {
    const { drawn } = this;
    if (!drawn) return { lit: NO_ITEMS, hovered: null, near: NO_ITEMS, path: null };
    const { nodes } = this.store.lit.peek();
    const lit = new Set<Item>();
    const selection = this.store.selection.peek();
    if (selection.kind === "scope") {
      for (const item of drawn.forest.byKey.values()) {
        if (item.scope === selection.scope && this.scene.peek()?.boxOf.has(item)) lit.add(item);
      }
    }
    if (lit.size === 0) {
      for (const id of nodes) {
        const item = drawn.forest.itemOf.get(id);
        if (item) lit.add(this.shownFor(item));
      }
    }
    lit.delete(drawn.forest.root);
    const hoveredId = this.store.hovered.peek();
    const elsewhere = hoveredId === null ? undefined : drawn.forest.itemOf.get(hoveredId);
    const hovered = this.hovered ?? (elsewhere ? this.shownFor(elsewhere) : null);
    const { before, after } = drawn.neighbours;
    const near = hovered
      ? new Set([...(before.get(hovered) ?? []), ...(after.get(hovered) ?? [])])
      : NO_ITEMS;
    const path =
      this.showPath.peek() && nodes.size > 0
        ? pathThrough(drawn.program, drawn.forest, nodes)
        : null;
    return { lit, hovered, near, path };
  }

  private readonly measure: Measure = (text, font) => {
    this.context.font = font;
    return this.context.measureText(text.length > 200 ? text.slice(0, 200) : text).width;
  };

  private resize(): void {
    const { clientWidth: width, clientHeight: height } = this.canvas;
    const first = this.size.width === 0 && width > 0;
    this.size = { width, height };
    const ratio = devicePixelRatio || 1;
    this.canvas.width = Math.round(width * ratio);
    this.canvas.height = Math.round(height * ratio);
    this.map.width = Math.round(MINIMAP.width * ratio);
    this.map.height = Math.round(MINIMAP.height * ratio);
    if (first) this.firstLook();
    this.paintNow();
  }

  private retheme(): void {
    this.palette = readPalette(this.canvas);
    this.paintNow();
  }

  private glide(to: camera.Camera): void {
    const from = this.at;
    if (matchMedia("(prefers-reduced-motion: reduce)").matches) {
      this.moveTo(to);
      return;
    }
    const began = performance.now();
    const step = (): void => {
      const part = Math.min((performance.now() - began) / GLIDE_MS, 1);
      this.at = camera.between(from, to, part * (2 - part));
      this.paintNow();
      if (part < 1) this.frame = requestAnimationFrame(step);
    };
    cancelAnimationFrame(this.frame);
    step();
  }

  private moveTo(to: camera.Camera): void {
    cancelAnimationFrame(this.frame);
    this.at = to;
    this.repaint();
  }

  private repaint(): void {
    cancelAnimationFrame(this.frame);
    this.frame = requestAnimationFrame(() => this.paintNow());
  }

  private paintNow(): void {
    const { context, size } = this;
    const scene = this.scene.peek();
    const ratio = devicePixelRatio || 1;
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.fillStyle = this.palette.background;
    context.fillRect(0, 0, size.width, size.height);
    if (!scene) return;
    const scale = ratio * this.at.zoom;
    context.setTransform(scale, 0, 0, scale, -this.at.x * scale, -this.at.y * scale);
    const seen = camera.visible(this.at, size);
    paint(new CanvasSurface(context), scene, seen, this.at.zoom, this.palette, this.marks());
    this.crowded.value = needsMinimap(scene, seen);
    if (this.crowded.peek()) paintMinimap(this.mapContext, scene, seen, this.palette, ratio);
  }
}

function context2d(canvas: HTMLCanvasElement): CanvasRenderingContext2D {
  const context = canvas.getContext("2d");
  if (!context) throw new Error("This page cannot draw on a canvas.");
  return context;
}

/** At first, all is closed but scopes without neighbours: opening those saves a click. */
function firstOpen(forest: Forest): Set<string> {
  const open = new Set<string>();
  let { children } = forest.root;
  for (;;) {
    const inner = children.filter((item) => !["input", "output", "port"].includes(item.kind));
    const only = inner[0];
    if (inner.length !== 1 || !only || only.kind !== "scope") return open;
    open.add(only.key);
    children = only.children;
  }
}

function openAbove(item: Item, open: Set<string>): void {
  for (let above = item.parent; above?.parent; above = above.parent) open.add(above.key);
}

function nodesBelow(item: Item): NodeId[] {
  const own = item.node >= 0 && item.kind === "op" ? [item.node] : [];
  return [...own, ...item.children.flatMap(nodesBelow)];
}

/** The closest box in a direction, by the distance of centres; sideways distance counts double. */
function nearest(scene: Scene, from: SceneBox, direction: string): Item | null {
  const centre = (box: SceneBox): [number, number] => [
    box.x + box.width / 2,
    box.y + box.height / 2,
  ];
  const [x, y] = centre(from);
  let best: Item | null = null;
  let least = Number.POSITIVE_INFINITY;
  for (const [item, box] of scene.boxOf) {
    if (box === from || box.open || item.kind === "port") continue;
    const [bx, by] = centre(box);
    const along = { up: y - by, down: by - y, left: x - bx, right: bx - x }[direction] ?? 0;
    const aside = direction === "up" || direction === "down" ? Math.abs(bx - x) : Math.abs(by - y);
    if (along <= 1) continue;
    const distance = along + 2 * aside;
    if (distance < least) {
      least = distance;
      best = item;
    }
  }
  return best;
}
