/**
 * What is on the canvas: which items are open, how large each box must be, and, once placed, where
 * everything stands. Lengths are CSS pixels at zoom 1.
 */

import { capped } from "../format";
import type { Program } from "../program";
import type { Forest, Item } from "./items";
import type { LayoutBox, LayoutLink, Placed } from "./layout_types";
import type { Link, Links } from "./links";

export const FONT = {
  title: "600 12px",
  text: "11px",
  label: "10.5px",
  family: 'system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif',
  mono: 'ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace',
} as const;

export const LINE = 15;
export const PAD_X = 10;
export const PAD_Y = 7;
export const HEADER = 30;
const WIDEST = 260;
const NARROWEST = 64;
const MOST_HELD = 4;

/** Width of a text in CSS pixels. */
export type Measure = (text: string, font: string) => number;

/** A box where it stands, in scene coordinates. */
export interface SceneBox {
  item: Item;
  x: number;
  y: number;
  width: number;
  height: number;
  open: boolean;
  depth: number;
  lines: string[];
  taps: Item[];
  children: SceneBox[];
  edges: SceneEdge[];
}

/** A part of an edge's label. */
export interface LabelPiece {
  text: string;
  /** Symbol whose colour it has; -1 for none. */
  symbol: number;
  width: number;
}

export interface SceneEdge {
  link: Link;
  /** Bézier control points: x, y, ... */
  points: number[];
  /** The label's parts from left to right, each with its own colour. */
  pieces: LabelPiece[];
  /** The middle of the label. */
  label: [x: number, y: number] | null;
}

export interface Scene {
  root: SceneBox;
  width: number;
  height: number;
  boxOf: Map<Item, SceneBox>;
}

/** The muted lines below a box's title. */
export function linesOf(item: Item, taps: readonly Item[]): string[] {
  const lines: string[] = [];
  if (item.subtitle) lines.push(item.subtitle);
  const shown = item.held.slice(0, MOST_HELD).map((each) => `${each.name} ${each.size}`.trim());
  if (item.held.length > MOST_HELD) shown.push(`… ${item.held.length - MOST_HELD} more`);
  lines.push(...shown);
  if (taps.length > 0) lines.push(`◂ ${taps.map((tap) => tap.title).join(", ")}`);
  return lines;
}

/** The sizes of the value on an edge, `batch×4×seq`, and how many more values take it. */
export function edgePieces(program: Program, link: Link, measure: Measure): LabelPiece[] {
  const type = program.type(link.values[0] ?? -1);
  const piece = (text: string, symbol = -1): LabelPiece => ({
    text,
    symbol,
    width: measure(text, labelFont()),
  });
  const sized = (size: number | string): LabelPiece =>
    piece(capped(String(size), 24), typeof size === "string" ? program.symbolsIn(size)[0] : -1);
  const more = link.values.length > 1 ? [piece(` +${link.values.length - 1}`)] : [];
  if (!type || type.kind === "tuple") return more;
  if (type.kind !== "tensor") return [piece(capped(type.text, 24)), ...more];
  if (type.shape.length === 0) return [piece("scalar"), ...more];
  const sizes = type.shape.flatMap((size, at) =>
    at > 0 ? [piece("×"), sized(size)] : [sized(size)],
  );
  return [...sizes, ...more];
}

const labelWidth = (pieces: readonly LabelPiece[]): number =>
  pieces.reduce((sum, each) => sum + each.width, 0);

/** What is to be laid out while `open` items are open. */
export function layoutBox(
  program: Program,
  forest: Forest,
  links: Links,
  open: ReadonlySet<string>,
  measure: Measure,
): LayoutBox {
  const box = (item: Item): LayoutBox => {
    const taps = links.taps.get(item) ?? [];
    const isOpen = item === forest.root || (item.children.length > 0 && open.has(item.key));
    if (!isOpen) {
      const first = item.kind === "input" || item.kind === "port";
      return { ...leafSize(item, linesOf(item, taps), measure), first };
    }
    const positions = new Map(item.children.map((child, index) => [child, index]));
    const header = item === forest.root ? 0 : HEADER;
    return {
      width: header ? headerWidth(item, measure) : 0,
      height: header,
      children: item.children.map(box),
      links: (links.inside.get(item) ?? []).map((link): LayoutLink => {
        const width = labelWidth(edgePieces(program, link, measure));
        const room = width > 0 ? Math.ceil(width) + 8 : 0;
        return [positions.get(link.from) ?? 0, positions.get(link.to) ?? 0, room];
      }),
    };
  };
  return box(forest.root);
}

export const titleFont = (): string => `${FONT.title} ${FONT.family}`;
export const textFont = (): string => `${FONT.text} ${FONT.family}`;
export const labelFont = (): string => `${FONT.label} ${FONT.family}`;

function leafSize(item: Item, lines: string[], measure: Measure): LayoutBox {
  if (item.kind === "port") {
    return { width: Math.min(measure(item.title, labelFont()) + 16, 140), height: 18 };
  }
  const fold = item.children.length > 0 ? 22 : 0;
  const widths = lines.map((line) => measure(line, textFont()));
  const widest = Math.max(measure(item.title, titleFont()) + fold, ...widths);
  return {
    width: Math.round(Math.min(Math.max(widest + 2 * PAD_X, NARROWEST), WIDEST)),
    height: PAD_Y * 2 + LINE * (1 + lines.length),
  };
}

function headerWidth(item: Item, measure: Measure): number {
  const title = measure(item.title, titleFont());
  return Math.min(title + measure(item.subtitle, textFont()) + 60, 420);
}

/** The scene of a finished layout; `placed` answers the `layoutBox` of the same arguments. */
export function buildScene(
  program: Program,
  forest: Forest,
  links: Links,
  open: ReadonlySet<string>,
  placed: Placed,
  measure: Measure,
): Scene {
  const boxOf = new Map<Item, SceneBox>();
  const visit = (item: Item, spot: Placed, x: number, y: number, depth: number): SceneBox => {
    const taps = links.taps.get(item) ?? [];
    const isOpen = item === forest.root || (item.children.length > 0 && open.has(item.key));
    const box: SceneBox = {
      item,
      x,
      y,
      width: spot.width,
      height: spot.height,
      open: isOpen,
      depth,
      lines: linesOf(item, taps),
      taps: [...taps],
      children: [],
      edges: [],
    };
    boxOf.set(item, box);
    if (!isOpen) return box;
    box.children = item.children.flatMap((child, index) => {
      const inner = spot.children?.[index];
      return inner ? [visit(child, inner, x + inner.x, y + inner.y, depth + 1)] : [];
    });
    box.edges = (links.inside.get(item) ?? []).flatMap((link, index) => {
      const drawn = spot.links?.[index];
      if (!drawn) return [];
      const points = drawn.points.map((value, at) => value + (at % 2 === 0 ? x : y));
      const label: [number, number] | null = drawn.label && [
        drawn.label[0] + x,
        drawn.label[1] + y,
      ];
      return [{ link, points, label, pieces: edgePieces(program, link, measure) }];
    });
    return box;
  };
  const root = visit(forest.root, placed, 0, 0, 0);
  return { root, width: placed.width, height: placed.height, boxOf };
}

/** The innermost box at a point of the scene; null outside every box. */
export function boxAt(scene: Scene, x: number, y: number): SceneBox | null {
  let found: SceneBox | null = null;
  let boxes = scene.root.children;
  for (;;) {
    const hit = boxes.find(
      (box) => x >= box.x && x <= box.x + box.width && y >= box.y && y <= box.y + box.height,
    );
    if (!hit) return found;
    found = hit;
    boxes = hit.children;
  }
}
