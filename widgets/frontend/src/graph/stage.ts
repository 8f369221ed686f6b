/**
 * The canvases of a graph: their size, the camera, the theme, and when to paint. It receives a
 * Scene and Marks, and does not know where they come from.
 */

import { type Signal, signal } from "@preact/signals";
import { ensure } from "../maps";
import {
  type Beyond,
  between,
  type Camera,
  countBeyond,
  type Rect,
  type Size,
  sameCamera,
  visible,
  zoomAt,
} from "./camera";
import type { Marks } from "./marks";
import { coversBoxes, freerCorner, Minimap, minimapScale, needsMinimap } from "./minimap";
import { LEAST_HEADER, paintMarquee, paintPlates, platesOf } from "./overview";
import { paint } from "./paint";
import { onPaletteChange, type Palette, readPalette } from "./palette";
import { boxesAt, closedBoxes, HEADER, type Measure, type Scene, type SceneBox } from "./scene";
import { CanvasSurface } from "./surface";

const GLIDE_MS = 180;
export const SIDES = ["above", "below", "left", "right"] as const;
const LONGEST_MEASURED = 200;
/** The closed legend, in CSS pixels, and with a scale of colours in it. */
const LEGEND: Size = { width: 84, height: 30 };
const LEGEND_OF_HEAT: Size = { ...LEGEND, width: 160 };

interface Glide {
  from: Camera;
  to: Camera;
  began: number;
}

export class Stage {
  /** Whether the scene is larger than the view. */
  readonly crowded: Signal<boolean> = signal(false);
  /** Whether the minimap is at the left and the legend at the right, because they cover less there. */
  readonly aside: Signal<boolean> = signal(false);
  /** How many boxes the fitted view leaves out, by where; null once the user has moved. */
  readonly beyond: Signal<Beyond | null> = signal(null);
  /** The open boxes that the middle of the view is in and whose headers are not in view. */
  readonly where: Signal<readonly SceneBox[]> = signal([]);
  camera: Camera = { x: 0, y: 0, zoom: 1 };
  /** The camera that the scene was fitted with; null for none. */
  private home: Camera | null = null;
  size: Size = { width: 0, height: 0 };
  palette: Palette;
  /** The frame that is being drawn around boxes, in CSS pixels of the view; null for none. */
  private marquee: Rect | null = null;
  private scene: Scene | null = null;
  private readonly context: CanvasRenderingContext2D;
  private readonly minimap: Minimap | null;
  private readonly surface: CanvasSurface;
  /** Per font, the widths of texts. */
  private readonly widths = new Map<string, Map<string, number>>();
  /** What `beyond` was last counted for. */
  private counted: { scene: Scene; camera: Camera; size: Size } | null = null;
  private frame = 0;
  private glide: Glide | null = null;
  /** Those that show the same part of the same scene. */
  private readonly peers = new Set<Stage>();
  private readonly stops: (() => void)[];

  /**
   * @param map the canvas of the minimap, where there is one
   * @param marks asked for at each picture
   * @param onSize called when the canvas has another size
   * @param onError called with what went wrong in painting
   */
  constructor(
    private readonly canvas: HTMLCanvasElement,
    private readonly map: HTMLCanvasElement | null,
    private readonly marks: () => Marks,
    private readonly onSize: () => void,
    private readonly onError: (error: unknown) => void,
  ) {
    this.context = context2d(canvas);
    this.minimap = map && new Minimap(context2d(map));
    this.surface = new CanvasSurface(this.context);
    this.palette = readPalette(canvas);
    const observer = new ResizeObserver(() => this.resize());
    observer.observe(canvas);
    this.stops = [() => observer.disconnect(), onPaletteChange(canvas, () => this.retheme())];
  }

  dispose(): void {
    cancelAnimationFrame(this.frame);
    for (const peer of this.peers) peer.peers.delete(this);
    for (const stop of this.stops) stop();
  }

  /**
   * Paints a scene at once, seen from `camera`.
   *
   * @param fits whether that fits the scene into the view: it is fitted again after a resize
   */
  show(scene: Scene | null, camera: Camera = this.camera, fits = false): void {
    if (fits) this.home = camera;
    for (const each of [this, ...this.peers]) {
      each.scene = scene;
      each.glide = null;
      each.camera = camera;
      each.paintNow();
    }
  }

  /** Keeps both on the same part of the scene, whichever is panned or zoomed. */
  join(peer: Stage): void {
    this.peers.add(peer);
    peer.peers.add(this);
    this.show(this.scene, this.camera);
  }

  moveTo(camera: Camera): void {
    this.glide = null;
    this.camera = camera;
    this.repaint();
  }

  /** Animates to a camera, or jumps there if the user prefers reduced motion. */
  glideTo(to: Camera): void {
    if (matchMedia("(prefers-reduced-motion: reduce)").matches) this.moveTo(to);
    else if (!sameCamera(this.camera, to)) {
      this.glide = { from: this.camera, to, began: performance.now() };
      this.repaint();
    }
  }

  /** Goes to the camera that fits the scene into the view. */
  fitTo(home: Camera, glides: boolean): void {
    this.home = home;
    if (glides) this.glideTo(home);
    else this.moveTo(home);
  }

  /** Whether the view is where the scene was fitted, or on its way there. */
  isFitted(): boolean {
    return this.home !== null && sameCamera(this.glide?.to ?? this.camera, this.home);
  }

  /** Draws a frame around what is to be selected; null takes it away. */
  outline(marquee: Rect | null): void {
    this.marquee = marquee;
    this.repaint();
  }

  /** Zooms about a point of the view, by default its middle. */
  zoomBy(factor: number, x = this.size.width / 2, y = this.size.height / 2): void {
    this.moveTo(zoomAt(this.glide?.to ?? this.camera, factor, x, y));
  }

  /** By CSS pixels of the view. */
  panBy(x: number, y: number): void {
    const { camera } = this;
    this.moveTo({ ...camera, x: camera.x + x / camera.zoom, y: camera.y + y / camera.zoom });
  }

  /** Goes to a point of the minimap, in its own CSS pixels. */
  goTo(mapX: number, mapY: number): void {
    if (!this.scene) return;
    const scale = minimapScale(this.scene, this.size);
    const seen = this.seen();
    const x = mapX / scale.x - seen.width / 2;
    this.moveTo({ ...this.camera, x, y: mapY / scale.y - seen.height / 2 });
  }

  /** The innermost box at a point of the view. */
  boxAt(x: number, y: number): SceneBox | null {
    const point = this.pointAt(x, y);
    return (this.scene && boxesAt(this.scene, point.x, point.y).at(-1)) ?? null;
  }

  /** A point of the view in the scene. */
  pointAt(x: number, y: number): { x: number; y: number } {
    const { camera } = this;
    return { x: camera.x + x / camera.zoom, y: camera.y + y / camera.zoom };
  }

  readonly measure: Measure = (text, font) => {
    const part = text.length > LONGEST_MEASURED ? text.slice(0, LONGEST_MEASURED) : text;
    const known = ensure(this.widths, font, () => new Map<string, number>());
    return ensure(known, part, () => {
      this.context.font = font;
      return this.context.measureText(part).width;
    });
  };

  /** Paints with the next frame of the page. */
  repaint(): void {
    if (this.frame === 0) this.frame = requestAnimationFrame(() => this.tick());
  }

  /** Repaints every canvas that shows this scene. */
  repaintAll(): void {
    for (const each of [this, ...this.peers]) each.repaint();
  }

  paintNow(): void {
    try {
      this.paintAll();
    } catch (error) {
      this.onError(error);
    }
  }

  private paintAll(): void {
    const { camera, context, palette, scene, size } = this;
    const ratio = devicePixelRatio || 1;
    const scale = ratio * camera.zoom;
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    this.surface.begin();
    context.fillStyle = palette.background;
    context.fillRect(0, 0, size.width, size.height);
    const seen = this.seen();
    this.crowded.value = scene !== null && size.width > 0 && this.hasMinimap(scene, seen);
    if (!scene) return;
    context.setTransform(scale, 0, 0, scale, -camera.x * scale, -camera.y * scale);
    paint(this.surface, scene, seen, camera.zoom, palette, this.marks());
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    paintPlates(context, platesOf(scene, camera, size, this.measure), palette);
    if (this.marquee) paintMarquee(context, this.marquee, palette);
    if (this.crowded.peek()) this.paintMap(scene, seen, ratio);
    else if (this.isFitted()) this.makeRoom(this.legend(), "right", scene);
    this.lookAround(scene, seen);
    this.lookBeyond(scene, seen);
    for (const peer of this.peers) peer.follow(camera);
  }

  /**
   * A fitted view counts what is outside at its edges. A minimap is there where that is most of the
   * scene, and covers nothing that is inside.
   */
  private hasMinimap(scene: Scene, seen: Rect): boolean {
    const { camera, size } = this;
    if (!needsMinimap(scene, seen, size)) return false;
    if (!this.isFitted()) return true;
    const isMostOutside = scene.width > 2 * seen.width || scene.height > 2 * seen.height;
    return isMostOutside && !coversBoxes(minimapScale(scene, size), scene, camera, size);
  }

  private follow(camera: Camera): void {
    if (sameCamera(this.camera, camera)) return;
    this.glide = null;
    this.camera = camera;
    this.repaint();
  }

  private tick(): void {
    this.frame = 0;
    if (this.glide) {
      const { from, to, began } = this.glide;
      const part = Math.min((performance.now() - began) / GLIDE_MS, 1);
      this.camera = between(from, to, part * (2 - part));
      if (part === 1) this.glide = null;
      else this.repaint();
    }
    this.paintNow();
  }

  private paintMap(scene: Scene, seen: Rect, ratio: number): void {
    if (!this.map || !this.minimap) return;
    const shrunk = minimapScale(scene, this.size);
    const { width, height } = shrunk;
    const [deviceWidth, deviceHeight] = [Math.round(width * ratio), Math.round(height * ratio)];
    if (this.map.width !== deviceWidth || this.map.height !== deviceHeight) {
      Object.assign(this.map, { width: deviceWidth, height: deviceHeight });
      Object.assign(this.map.style, { width: `${width}px`, height: `${height}px` });
    }
    this.makeRoom(shrunk, "left", scene);
    const { palette } = this;
    const { decorations } = this.marks();
    this.minimap.paint({ scene, scale: shrunk, palette, decorations, ratio }, seen);
  }

  private legend(): Size {
    return this.marks().decorations.scale ? LEGEND_OF_HEAT : LEGEND;
  }

  /** Keeps a panel in a lower corner away from the selection and the boxes; `away` has priority. */
  private makeRoom(thing: Size, away: "left" | "right", scene: Scene): void {
    // It would jump while the pointer drags in it, or while the view moves.
    if (this.glide || this.map?.matches(":active")) return;
    const [lead] = this.marks().lit;
    const selected = lead && scene.boxOf.get(lead);
    const free = freerCorner(thing, scene, selected, this.camera, this.size);
    if (free) this.aside.value = free === away;
  }

  private lookAround(scene: Scene, seen: Rect): void {
    const around = boxesAt(scene, seen.x + seen.width / 2, seen.y + seen.height / 2);
    const isNamed = HEADER * this.camera.zoom < LEAST_HEADER; // from afar, by plates
    const open = isNamed ? [] : around.filter((box) => box.open && box.y + HEADER / 2 < seen.y);
    const before = this.where.peek();
    const same = open.length === before.length && open.every((box, at) => box === before[at]);
    if (!same) this.where.value = open;
  }

  /** Counted once for each view of a scene: a hover paints that again and moves no box. */
  private lookBeyond(scene: Scene, seen: Rect): void {
    const fitted = this.isFitted() && this.size.width > 0;
    const { camera, counted, size } = this;
    const isCounted =
      counted?.scene === scene && counted.camera === camera && counted.size === size;
    if (fitted && isCounted) return;
    this.counted = fitted ? { scene, camera, size } : null;
    const next = fitted ? countBeyond(closedBoxes(scene.root), seen) : null;
    const now = this.beyond.peek();
    const same = next && now && SIDES.every((side) => next[side] === now[side]);
    if (!same) this.beyond.value = next;
  }

  private seen(): Rect {
    return visible(this.camera, this.size);
  }

  private resize(): void {
    const { clientWidth: width, clientHeight: height } = this.canvas;
    // Colours cannot be read before the canvas is in the document.
    if (this.size.width === 0 && width > 0) this.palette = readPalette(this.canvas);
    const was = this.size;
    this.size = { width, height };
    if (was.width > 0 && width > 0) this.keepMiddle(was);
    const ratio = devicePixelRatio || 1;
    this.canvas.width = Math.round(width * ratio);
    this.canvas.height = Math.round(height * ratio);
    if (width > 0) this.onSize();
    this.paintNow();
  }

  /** Keeps what was in the middle there; a fitted scene is fitted again, and two halves stay as one. */
  private keepMiddle(was: Size): void {
    if (this.peers.size > 0 || this.isFitted()) return;
    const [dx, dy] = [(was.width - this.size.width) / 2, (was.height - this.size.height) / 2];
    const moved = (camera: Camera): Camera => ({
      ...camera,
      x: camera.x + dx / camera.zoom,
      y: camera.y + dy / camera.zoom,
    });
    this.camera = moved(this.camera);
    if (this.glide) {
      this.glide = { ...this.glide, from: moved(this.glide.from), to: moved(this.glide.to) };
    }
  }

  private retheme(): void {
    this.palette = readPalette(this.canvas);
    this.paintNow();
  }
}

function context2d(canvas: HTMLCanvasElement): CanvasRenderingContext2D {
  const context = canvas.getContext("2d");
  if (!context) throw new Error("This page cannot draw on a canvas.");
  return context;
}
