/**
 * Draws a scene: what is in view and large enough to be seen, and no more. Pure but for the Surface.
 */

import type { Rect } from "./camera";
import type { Item } from "./items";
import type { Palette } from "./palette";
import {
  HEADER,
  LINE,
  labelFont,
  PAD_X,
  PAD_Y,
  type Scene,
  type SceneBox,
  type SceneEdge,
  textFont,
  titleFont,
} from "./scene";
import type { Surface } from "./surface";

/** What stands out. */
export interface Marks {
  lit: ReadonlySet<Item>;
  hovered: Item | null;
  /** The hovered item's neighbours, by edges or by name. */
  near: ReadonlySet<Item>;
  /** All that leads to the selection or follows from it; null when no path is shown. */
  path: ReadonlySet<Item> | null;
}

const STRIPE = 4;
/** Smaller than this on the screen, in CSS pixels, and a thing is not drawn. */
const LEAST_TEXT = 5;
const LEAST_BOX = 1.5;

export function paint(
  surface: Surface,
  scene: Scene,
  seen: Rect,
  zoom: number,
  palette: Palette,
  marks: Marks,
): void {
  new Painter(surface, seen, zoom, palette, marks).container(scene.root);
}

class Painter {
  private readonly legible: boolean;

  constructor(
    private readonly surface: Surface,
    private readonly seen: Rect,
    private readonly zoom: number,
    private readonly palette: Palette,
    private readonly marks: Marks,
  ) {
    this.legible = 11 * zoom >= LEAST_TEXT;
  }

  container(box: SceneBox): void {
    for (const child of box.children) {
      if (!this.inView(child) || Math.max(child.width, child.height) * this.zoom < LEAST_BOX)
        continue;
      if (child.open) {
        this.frame(child);
        this.container(child);
      } else this.leaf(child);
    }
    for (const edge of box.edges) this.edge(edge);
  }

  private inView(box: { x: number; y: number; width: number; height: number }): boolean {
    const { seen } = this;
    return (
      box.x < seen.x + seen.width &&
      box.x + box.width > seen.x &&
      box.y < seen.y + seen.height &&
      box.y + box.height > seen.y
    );
  }

  private frame(box: SceneBox): void {
    const { palette, surface } = this;
    const fill = box.depth % 2 === 0 ? palette.scopeEven : palette.scopeOdd;
    surface.box(box.x, box.y, box.width, box.height, 8, fill, this.outline(box));
    if (!this.legible) return;
    const middle = box.y + HEADER / 2 + 1;
    surface.text("▾", box.x + 10, middle, textFont(), palette.muted, 20, false);
    const left = box.x + 24;
    const room = box.width - 34;
    surface.text(box.item.title, left, middle, titleFont(), palette.text, room, false);
    const used = box.item.title.length * 7.2 + 10;
    if (used < room - 20) {
      surface.text(
        box.item.subtitle,
        left + used,
        middle,
        textFont(),
        palette.muted,
        room - used,
        false,
      );
    }
  }

  private leaf(box: SceneBox): void {
    if (box.item.kind === "port") {
      this.port(box);
      return;
    }
    const { palette, surface } = this;
    if (box.item.kind === "repeat") {
      for (const step of [6, 3]) {
        surface.box(box.x + step, box.y + step, box.width, box.height, 6, palette.surface, {
          colour: palette.border,
          width: 1,
        });
      }
    }
    const accent = palette.accents.get(box.item.accent) ?? palette.muted;
    if (!this.legible && !this.marks.lit.has(box.item)) {
      surface.box(box.x, box.y, box.width, box.height, 0, accent); // a patch of colour, from afar
      return;
    }
    const fill = this.marks.lit.has(box.item) ? palette.selectFill : palette.surface;
    surface.box(box.x, box.y, box.width, box.height, 6, fill, this.outline(box));
    if (box.width * this.zoom > 8) {
      surface.box(box.x, box.y + 6, STRIPE - 1, box.height - 12, 0, accent);
    }
    if (this.legible) this.words(box);
  }

  private words(box: SceneBox): void {
    const { palette, surface } = this;
    const left = box.x + PAD_X;
    const room = box.width - 2 * PAD_X + 2;
    let y = box.y + PAD_Y + LINE / 2;
    const foldable = box.item.children.length > 0;
    surface.text(
      box.item.title,
      left,
      y,
      titleFont(),
      palette.text,
      foldable ? room - 16 : room,
      false,
    );
    if (foldable) {
      surface.text("▸", box.x + box.width - 18, y, textFont(), palette.muted, 20, false);
    }
    if (11 * this.zoom < 6.5) return;
    for (const line of box.lines) {
      y += LINE;
      surface.text(line, left, y, textFont(), palette.muted, room, false);
    }
  }

  private port(box: SceneBox): void {
    const { palette, surface } = this;
    surface.box(box.x, box.y, box.width, box.height, 9, palette.background, {
      ...this.outline(box),
      dash: [3, 2],
    });
    if (this.legible) {
      const middle = box.y + box.height / 2;
      const centre = box.x + box.width / 2;
      surface.text(box.item.title, centre, middle, labelFont(), palette.muted, box.width - 8, true);
    }
  }

  private outline(box: SceneBox): { colour: string; width: number } {
    const { marks, palette } = this;
    if (marks.lit.has(box.item)) return { colour: palette.select, width: 2 };
    if (marks.hovered === box.item) return { colour: palette.select, width: 1.5 };
    if (marks.near.has(box.item)) return { colour: palette.muted, width: 1.5 };
    if (marks.path?.has(box.item)) return { colour: palette.select, width: 1.25 };
    return { colour: palette.border, width: 1 };
  }

  private edge(edge: SceneEdge): void {
    const { points } = edge;
    if (points.length < 8 || !this.inView(bounds(points))) return;
    const { palette, surface } = this;
    const strong = this.isStrong(edge);
    const colour = strong ? palette.select : palette.edge;
    surface.curve(points, { colour, width: strong ? 1.75 : 1.1 });
    if (6 * this.zoom >= 2) surface.triangle(arrow(points), colour);
    if (edge.label && 10.5 * this.zoom >= 6.5) this.label(edge, edge.label);
  }

  private label(edge: SceneEdge, [middle, y]: [number, number]): void {
    const { palette, surface } = this;
    let x = middle - edge.pieces.reduce((sum, each) => sum + each.width, 0) / 2;
    for (const { text, symbol, width } of edge.pieces) {
      const own = symbol >= 0 ? palette.symbols[symbol % palette.symbols.length] : undefined;
      surface.text(text, x, y, labelFont(), own ?? palette.muted, width + 1, false);
      x += width;
    }
  }

  private isStrong(edge: SceneEdge): boolean {
    const { from, to } = edge.link;
    const { hovered, lit, path } = this.marks;
    if (hovered && (from === hovered || to === hovered)) return true;
    if (lit.has(from) || lit.has(to)) return true;
    return path?.has(from) === true && path.has(to);
  }
}

function bounds(points: readonly number[]): Rect {
  let [left, top, right, bottom] = [Infinity, Infinity, -Infinity, -Infinity];
  for (let i = 0; i + 1 < points.length; i += 2) {
    const x = points[i] as number;
    const y = points[i + 1] as number;
    left = Math.min(left, x);
    right = Math.max(right, x);
    top = Math.min(top, y);
    bottom = Math.max(bottom, y);
  }
  return { x: left, y: top, width: right - left, height: bottom - top };
}

/** A small arrowhead at the end of a curve, along its last direction. */
function arrow(points: readonly number[]): number[] {
  const end = points.length;
  const x = points[end - 2] as number;
  const y = points[end - 1] as number;
  let dx = x - (points[end - 4] as number);
  let dy = y - (points[end - 3] as number);
  const length = Math.hypot(dx, dy) || 1;
  dx /= length;
  dy /= length;
  const size = 6;
  const back = [x - dx * size, y - dy * size] as const;
  const half = size * 0.45;
  return [x, y, back[0] - dy * half, back[1] + dx * half, back[0] + dy * half, back[1] - dx * half];
}
