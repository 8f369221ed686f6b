/**
 * The contents of the canvas: boxes and edges, with their positions. Lengths are CSS pixels at zoom
 * 1.
 */

import type { Item } from "../forest/items";
import { type Rect, UNCUT } from "./camera";
import type { Piece } from "./labels";
import type { Placed } from "./layout_types";
import type { Link } from "./links";
import { finished } from "./steps";

const SANS = 'system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif';
export const FONT = {
  title: `600 12px ${SANS}`,
  text: `11px ${SANS}`,
  label: `10.5px ${SANS}`,
  badge: `700 10px ${SANS}`,
} as const;

/** No text is smaller on the screen, in CSS pixels: it is cut where that makes it too wide. */
export const LEAST_FONT = 9;
/** Sizes of enlarged fonts are in such parts of a pixel, so that few of them are measured. */
const FONT_STEPS = 4;

/** The size that a font has, in its units. */
export const sizeOf = (font: string): number =>
  Number.parseFloat(/([\d.]+)px/.exec(font)?.[1] ?? "1");

/** The least size of a font of a scene of which a unit is so many CSS pixels. */
export const leastSize = (zoom: number): number =>
  Math.ceil((FONT_STEPS * LEAST_FONT) / zoom) / FONT_STEPS;

/** Height of a line of text, and the space around the lines of a box. */
export const LINE = 15;
export const PAD_X = 10;
/** Height of the title of a box, and of the header of an open one. */
export const TITLE = 24;
export const HEADER = 30;
/** Room for the sign at the end of a title. */
export const SIGN = 18;
const WIDEST_LABEL = 240;

/** How much larger texts are than at life-size where all of a graph is shown as small as it may be. */
const enlargement = (font: string): number => Math.max(1, leastSize(UNCUT) / sizeOf(font));
export const GROWN = {
  title: enlargement(FONT.title),
  text: enlargement(FONT.text),
  label: enlargement(FONT.label),
} as const;

/** The room that the layout leaves for the label of an edge. */
export const labelRoom = ({ width }: Line): number => Math.min(width * GROWN.label, WIDEST_LABEL);

/** Width of a text in CSS pixels. */
export type Measure = (text: string, font: string) => number;

/** A line of text, its parts from left to right. */
export interface Line {
  pieces: (Piece & { width: number })[];
  /** Space reserved for it: at least its width. */
  width: number;
}

/** What is written in a box, closed or open. */
export interface Words {
  title: string;
  /** Width of the title's text. */
  titleWidth: number;
  /** At the end of the title: that it opens; empty for none. */
  sign: string;
  lines: Line[];
}

/** A box with its place, in scene coordinates. */
export interface SceneBox extends Rect, Words {
  item: Item;
  open: boolean;
  /** 0 for the root, 1 for what is in it, ... */
  depth: number;
  /** Whether one of its values is read outside the container. */
  exits: boolean;
  children: SceneBox[];
  edges: SceneEdge[];
  /** Whether it has its place; if so, its contents have theirs. */
  placed: boolean;
}

export interface SceneEdge {
  link: Link;
  text: Line;
  /** Bézier control points: x, y, ... */
  points: number[];
  bounds: Rect;
  /** The middle of the label; null if there is none. */
  label: [x: number, y: number] | null;
}

export interface Scene {
  root: SceneBox;
  width: number;
  height: number;
  boxOf: Map<Item, SceneBox>;
}

/** A layout that is ready to be shown. */
export interface Settled {
  scene: Scene;
  /** Puts what was on the canvas before in its new place. Call it when the scene is shown. */
  move(): void;
}

/** Applies the layout of `layoutBox(root)`; what has its place already is moved as a whole. */
export function* settling(root: SceneBox, placed: Placed): Generator<void, Settled> {
  const boxOf = new Map<Item, SceneBox>();
  const moved: [box: SceneBox, x: number, y: number][] = [];
  const put = (box: SceneBox, spot: Placed, x: number, y: number): void => {
    if (box.placed) {
      moved.push([box, x, y]);
      return;
    }
    box.x = x;
    box.y = y;
    box.width = spot.width;
    box.height = spot.height;
    box.placed = true;
    boxOf.set(box.item, box);
    if (box.open) todo.push([box, spot]);
  };
  const todo: [SceneBox, Placed][] = [];
  put(root, placed, 0, 0);
  for (const [box, spot] of todo) {
    const { x, y } = box;
    box.children.forEach((child, index) => {
      const inner = spot.children?.[index];
      if (inner) put(child, inner, x + inner.x, y + inner.y);
    });
    box.edges.forEach((edge, index) => {
      const drawn = spot.links?.[index];
      if (!drawn) return;
      edge.points = drawn.points.map((value, at) => value + (at % 2 === 0 ? x : y));
      edge.bounds = boundsOf(edge.points);
      edge.label = drawn.label && [drawn.label[0] + x, drawn.label[1] + y];
    });
    yield;
  }
  const move = (): void => {
    for (const [box, x, y] of moved) shift(box, x - box.x, y - box.y, boxOf);
  };
  return { scene: { root, width: placed.width, height: placed.height, boxOf }, move };
}

/** The same at once. */
export function settle(root: SceneBox, placed: Placed): Scene {
  const { scene, move } = finished(settling(root, placed));
  move();
  return scene;
}

/** Moves a box and all that is in it. */
function shift(box: SceneBox, x: number, y: number, boxOf: Map<Item, SceneBox>): void {
  boxOf.set(box.item, box);
  box.x += x;
  box.y += y;
  for (const edge of box.edges) {
    const { bounds, label, points } = edge;
    for (let at = 0; at + 1 < points.length; at += 2) {
      points[at] = (points[at] as number) + x;
      points[at + 1] = (points[at + 1] as number) + y;
    }
    edge.bounds = { ...bounds, x: bounds.x + x, y: bounds.y + y };
    if (label) edge.label = [label[0] + x, label[1] + y];
  }
  for (const child of box.children) shift(child, x, y, boxOf);
}

function boundsOf(points: readonly number[]): Rect {
  let [left, top, right, bottom] = [Infinity, Infinity, -Infinity, -Infinity];
  for (let at = 0; at + 1 < points.length; at += 2) {
    const x = points[at] as number;
    const y = points[at + 1] as number;
    left = Math.min(left, x);
    right = Math.max(right, x);
    top = Math.min(top, y);
    bottom = Math.max(bottom, y);
  }
  return { x: left, y: top, width: right - left, height: bottom - top };
}

/** The closed boxes inside a box, in order. */
export function closedBoxes(box: SceneBox, into: SceneBox[] = []): SceneBox[] {
  for (const each of box.children) {
    if (each.open) closedBoxes(each, into);
    else into.push(each);
  }
  return into;
}

/** The boxes at a point of the scene, the outermost first. */
export function boxesAt(scene: Scene, x: number, y: number): SceneBox[] {
  const found: SceneBox[] = [];
  let boxes = scene.root.children;
  for (;;) {
    const hit = boxes.find(
      (box) => x >= box.x && x <= box.x + box.width && y >= box.y && y <= box.y + box.height,
    );
    if (!hit) return found;
    found.push(hit);
    boxes = hit.children;
  }
}
