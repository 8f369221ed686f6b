/**
 * What is on the canvas: the boxes for a set of open items, their text and minimum sizes, and, once
 * layout has finished, their positions. Lengths are CSS pixels at zoom 1.
 */

import type { Item } from "../forest/items";
import { ensure } from "../maps";
import type { Rect } from "./camera";
import type { Drawing } from "./drawing";
import { boxLines, edgePieces, type Piece } from "./labels";
import type { LayoutBox, LayoutLink, Placed } from "./layout_types";
import type { Link } from "./links";

const SANS = 'system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif';
export const FONT = {
  title: `600 12px ${SANS}`,
  text: `11px ${SANS}`,
  label: `10.5px ${SANS}`,
  badge: `700 10px ${SANS}`,
} as const;

/** Height of a line of text, and the space around the lines of a box. */
export const LINE = 15;
export const PAD_X = 10;
const PAD_Y = 6;
/** Height of the title of a box, and of the header of an open one. */
export const TITLE = 24;
export const HEADER = 30;
/** Room for the sign at the end of a title. */
export const SIGN = 18;
const WIDEST = 260;
const NARROWEST = 60;
/** Widths are multiples of this, so that scopes that differ by some pixels share a layout. */
const WIDTH_STEP = 8;
const WIDEST_HEADER = 420;
const WIDEST_PORT = 150;
export const WIDEST_LABEL = 240;

/** Width of a text in CSS pixels. */
export type Measure = (text: string, font: string) => number;

/** A line of text, its parts from left to right. */
export interface Line {
  pieces: (Piece & { width: number })[];
  /** Space reserved for it: at least its width. */
  width: number;
}

/** A box where it stands, in scene coordinates. */
export interface SceneBox extends Rect {
  item: Item;
  open: boolean;
  /** 0 for the root, 1 for what is in it, ... */
  depth: number;
  /** Width of the title's text. */
  titleWidth: number;
  /** At the end of the title: that it opens; empty for none. */
  sign: string;
  lines: Line[];
  /** Whether a value of it goes on to something outside the container. */
  exits: boolean;
  children: SceneBox[];
  edges: SceneEdge[];
}

export interface SceneEdge {
  link: Link;
  text: Line;
  /** Bézier control points: x, y, ... */
  points: number[];
  bounds: Rect;
  /** The middle of the label; null where there is none. */
  label: [x: number, y: number] | null;
}

export interface Scene {
  root: SceneBox;
  width: number;
  height: number;
  boxOf: Map<Item, SceneBox>;
}

const NOWHERE: Rect = { x: 0, y: 0, width: 0, height: 0 };

/**
 * The boxes and edges while `open` items are open, not yet placed. A value is labelled on the first
 * edge it flows along, but not on the way into an open box, nor if its own box already shows it.
 */
export function sketch(drawing: Drawing, open: ReadonlySet<string>, measure: Measure): SceneBox {
  const writer = writerOf(drawing, measure);
  const { forest, links } = drawing;
  const edgesOf = (item: Item): SceneEdge[] => {
    const named = new Set<string>();
    return links.inside(item).map((link) => {
      const name = `${link.from.key} ${link.values.join()}`;
      const entersOpen = link.from.kind === "port" && open.has(link.to.key);
      const isNamed = named.has(name) || entersOpen || link.from.kind === "parameter";
      named.add(name);
      const text = isNamed ? NO_TEXT : writer.edge(link);
      return { link, text, points: [], bounds: NOWHERE, label: null };
    });
  };
  const within = (item: Item): Item[] => [...links.ports(item), ...item.children];
  const visit = (item: Item, depth: number): SceneBox => {
    const isOpen = depth === 0 || (item.children.length > 0 && open.has(item.key));
    const { titleWidth, sign, lines } = writer.box(item);
    return {
      // Written out: there may be a hundred thousand, and spreading two objects is much slower.
      x: 0,
      y: 0,
      width: 0,
      height: 0,
      titleWidth,
      sign,
      lines,
      item,
      open: isOpen,
      depth,
      exits: links.exits(item),
      children: isOpen ? within(item).map((child) => visit(child, depth + 1)) : [],
      edges: isOpen ? edgesOf(item) : [],
    };
  };
  return visit(forest.root, 0);
}

const NO_TEXT: Line = { pieces: [], width: 0 };

/** What stands in a box, closed or open. */
type Written = Pick<SceneBox, "titleWidth" | "sign" | "lines">;

interface Writer {
  box(item: Item): Written;
  edge(link: Link): Line;
}

/** Texts already made for a drawing, reused by its next sketch. */
const writers = new WeakMap<Drawing, { measure: Measure; writer: Writer }>();

function writerOf(drawing: Drawing, measure: Measure): Writer {
  const known = writers.get(drawing);
  if (known?.measure === measure) return known.writer;
  const writer = makeWriter(drawing, measure);
  writers.set(drawing, { measure, writer });
  return writer;
}

function makeWriter({ program, links, dtype, notes }: Drawing, measure: Measure): Writer {
  const line = (pieces: Piece[], font: string): Line => ({
    pieces: pieces.map((piece) => ({ ...piece, width: measure(piece.text, font) })),
    width: pieces.reduce((sum, { text }) => sum + measure(evenNumber(text), font), 0),
  });
  const boxes = new Map<Item, Written>();
  const edges = new Map<string, Line>();
  const write = (item: Item): Written => {
    const taps = links.taps(item);
    const lines = item.kind === "port" ? [] : boxLines(program, item, taps, notes(item));
    return {
      titleWidth: measure(item.title, item.kind === "port" ? FONT.label : FONT.title),
      sign: item.children.length > 0 ? "▸" : "",
      lines: lines.map((each) => line(each, FONT.text)),
    };
  };
  return {
    box: (item) => ensure(boxes, item, () => write(item)),
    // Most edges carry values of a few types.
    edge: (link) =>
      ensure(edges, `${program.typeIndex(link.values[0] ?? -1)} ${link.values.length}`, () =>
        line(edgePieces(program, link, dtype), FONT.label),
      ),
  };
}

/** A node's name padded for other layers, so that they share a layout: `add_9` as `add_000`. */
function evenNumber(name: string): string {
  return name.replace(/_\d{1,2}(?=,|$)/g, "_000");
}

/** What a layout has to know of a sketch. */
export function layoutBox(box: SceneBox): LayoutBox {
  if (!box.open) {
    const first = box.item.kind === "input" || box.item.kind === "port";
    return { ...leafSize(box), first };
  }
  const positions = new Map(box.children.map((child, index) => [child.item, index]));
  return {
    width: box.depth > 0 ? headerWidth(box) : 0,
    height: box.depth > 0 ? HEADER : 0,
    children: box.children.map(layoutBox),
    links: box.edges.map(({ link, text }): LayoutLink => {
      const room = text.width > 0 ? stepped(Math.min(text.width, WIDEST_LABEL) + 8) : 0;
      return [positions.get(link.from) ?? 0, positions.get(link.to) ?? 0, room];
    }),
  };
}

function leafSize({ item, lines, sign, titleWidth }: SceneBox): { width: number; height: number } {
  if (item.kind === "port") {
    return { width: stepped(Math.min(titleWidth + 16, WIDEST_PORT)), height: 18 };
  }
  const widest = Math.max(titleWidth + (sign ? SIGN : 0), ...lines.map((line) => line.width));
  const rows = lines.length > 0 ? PAD_Y + LINE * lines.length : 0;
  return {
    width: stepped(Math.min(Math.max(widest + 2 * PAD_X, NARROWEST), WIDEST)),
    height: TITLE + rows,
  };
}

function headerWidth({ titleWidth, lines }: SceneBox): number {
  const subtitle = lines[0]?.width ?? 0;
  return stepped(Math.min(titleWidth + subtitle + 44, WIDEST_HEADER));
}

function stepped(width: number): number {
  return Math.ceil(width / WIDTH_STEP) * WIDTH_STEP;
}

/** Applies the layout of `layoutBox(sketch)` to the sketch. */
export function settle(root: SceneBox, placed: Placed): Scene {
  const boxOf = new Map<Item, SceneBox>();
  const visit = (box: SceneBox, spot: Placed, x: number, y: number): void => {
    Object.assign(box, { x, y, width: spot.width, height: spot.height });
    boxOf.set(box.item, box);
    box.children.forEach((child, index) => {
      const inner = spot.children?.[index];
      if (inner) visit(child, inner, x + inner.x, y + inner.y);
    });
    box.edges.forEach((edge, index) => {
      const drawn = spot.links?.[index];
      if (!drawn) return;
      edge.points = drawn.points.map((value, at) => value + (at % 2 === 0 ? x : y));
      edge.bounds = boundsOf(edge.points);
      edge.label = drawn.label && [drawn.label[0] + x, drawn.label[1] + y];
    });
  };
  visit(root, placed, 0, 0);
  return { root, width: placed.width, height: placed.height, boxOf };
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
