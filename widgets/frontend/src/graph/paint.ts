/**
 * Draws the part of a scene that is in view and large enough to see. Pure except for the Surface.
 */

import type { Badge } from "../decorations/decoration";
import type { Item } from "../forest/items";
import { AFTER, BEFORE } from "../two_programs";
import type { Rect } from "./camera";
import type { Decorated } from "./decorated";
import type { Marks } from "./marks";
import { type Accent, mix, type Palette, shareAccent } from "./palette";
import {
  FONT,
  HEADER,
  LINE,
  type Line,
  labelRoom,
  leastSize,
  PAD_X,
  type Scene,
  type SceneBox,
  type SceneEdge,
  SIGN,
  sizeOf,
  TITLE,
  type Words,
} from "./scene";
import type { Stroke, Surface } from "./surface";

/** Nothing that would be smaller than this is drawn: titles, other texts, boxes and edges. */
const LEAST_TITLE = 6.5;
const LEAST_TEXT = 6.5;
const LEAST_BOX = 1.2;
const LEAST_EDGE = 3;
type Fonts = { readonly [kind in keyof typeof FONT]: string };
/** Opacity of what is not on the highlighted path. */
const FADED = 0.28;
const RADIUS = 6;
const STACK = 3;
const BADGE = 14;

/** Draws the part `seen` of a scene. `zoom` is CSS pixels per unit of the scene. */
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
  private readonly titles: boolean;
  private readonly texts: boolean;
  private readonly font: Fonts;

  constructor(
    private readonly surface: Surface,
    private readonly seen: Rect,
    private readonly zoom: number,
    private readonly palette: Palette,
    private readonly marks: Marks,
  ) {
    this.titles = 12 * zoom >= LEAST_TITLE;
    this.texts = 11 * zoom >= LEAST_TEXT;
    this.font = fontsAt(zoom);
  }

  container(box: SceneBox): void {
    const strong: SceneEdge[] = [];
    for (const edge of box.edges) {
      if (!this.isEdgeSeen(edge)) continue;
      if (this.isStrong(edge)) strong.push(edge);
      else this.edge(edge, false);
    }
    for (const child of box.children) {
      if (!this.isSeen(child) || Math.max(child.width, child.height) * this.zoom < LEAST_BOX) {
        continue;
      }
      this.fadeUnless(this.marks.path === null || this.marks.path.has(child.item));
      if (this.isElsewhere(child.item)) {
        this.ghost(child);
        continue;
      }
      if (child.open) {
        this.frame(child);
        this.container(child);
      } else this.leaf(child);
      this.badges(child);
    }
    for (const edge of strong) this.edge(edge, true);
    this.surface.fade(1);
  }

  private fadeUnless(visible: boolean): void {
    this.surface.fade(visible ? 1 : FADED);
  }

  private decorated(item: Item): Decorated | undefined {
    return this.marks.decorations.boxes.get(item);
  }

  private wordsOf(box: SceneBox): Words {
    return this.marks.wordsOf?.(box.item) ?? box;
  }

  /** A colour of a decoration, as a canvas takes it; undefined for none. */
  private plain(colour: string | undefined): string | undefined {
    return colour ? this.palette.plainOf(colour) : undefined;
  }

  /** Whether an item is in none of the programs that are shown. */
  private isElsewhere(item: Item): boolean {
    const kind = this.marks.marked?.kinds.get(item);
    const home = kind === "added" ? AFTER : kind === "removed" ? BEFORE : AFTER | BEFORE;
    return (home & this.marks.sides) === 0;
  }

  /** The place of what only the other program has. */
  private ghost({ x, y, width, height }: SceneBox): void {
    const line = { colour: this.palette.edge, width: 1, dash: [2, 3] };
    this.surface.box(x, y, width, height, RADIUS, "", line);
  }

  private isSeen(rect: Rect): boolean {
    const { seen } = this;
    return (
      rect.x < seen.x + seen.width &&
      rect.x + rect.width > seen.x &&
      rect.y < seen.y + seen.height &&
      rect.y + rect.height > seen.y
    );
  }

  private isEdgeSeen({ bounds, link, points }: SceneEdge): boolean {
    if ((link.sides & this.marks.sides) === 0) return false;
    if (points.length < 8 || Math.max(bounds.width, bounds.height) * this.zoom < LEAST_EDGE) {
      return false;
    }
    // A vertical edge has no width, and its label is next to it.
    return this.isSeen({ ...bounds, x: bounds.x - 1, width: bounds.width + 240 });
  }

  /** An open box: its ground and its header. */
  private frame(box: SceneBox): void {
    const { palette, surface } = this;
    const ground = box.depth % 2 === 0 ? palette.scopeEven : palette.scopeOdd;
    const colour = this.plain(this.decorated(box.item)?.colour);
    const fill = colour ? mix(colour, ground, 0.08) : ground;
    surface.box(box.x, box.y, box.width, box.height, RADIUS + 2, fill, this.outline(box));
    if (!this.titles) return;
    const middle = box.y + HEADER / 2 + 1;
    const left = box.x + 24;
    const room = box.width - 34;
    surface.text("▾", box.x + 10, middle, this.font.text, palette.muted, 20);
    const { lines, title, titleWidth } = this.wordsOf(box);
    surface.text(title, left, middle, this.font.title, palette.text, room);
    const subtitle = lines[0];
    const grown = sizeOf(this.font.title) / sizeOf(FONT.title);
    const used = Math.min(titleWidth * grown, room) + 8;
    if (subtitle && used < room - 20) this.line(subtitle, left + used, middle, room - used);
  }

  private leaf(box: SceneBox): void {
    if (box.item.kind === "port") {
      this.port(box);
      return;
    }
    const { palette, surface } = this;
    const accent = this.accent(box);
    const lit = this.marks.lit.has(box.item);
    const outline = this.outline(box, accent);
    if (!this.titles) {
      surface.box(box.x, box.y, box.width, box.height, 0, lit ? palette.select : accent.patch);
      return;
    }
    if (box.item.kind === "repeat") {
      for (const step of [2 * STACK, STACK]) {
        surface.box(box.x + step, box.y + step, box.width, box.height, RADIUS, palette.surface, {
          colour: accent.line,
          width: 1,
        });
      }
    }
    const rim = box.item.kind === "input" || box.item.kind === "output" ? TITLE / 2 : RADIUS;
    const fill = lit ? palette.selectFill : accent.soft;
    surface.box(box.x, box.y, box.width, box.height, rim, fill, outline);
    if (box.exits) this.exit(box, outline.colour);
    this.words(box, rim, !lit);
  }

  /** The colours of a box's kind, or of what it is decorated with. */
  private accent(box: SceneBox): Accent {
    const { marks, palette } = this;
    const decorated = this.decorated(box.item);
    const colour = this.plain(decorated?.colour);
    if (colour) return shades(colour, palette);
    const most = this.plain(marks.decorations.scale);
    if (most) return shareAccent(palette, most, Math.max(decorated?.share ?? 0, 0));
    return palette.accents.get(box.item.accent) ?? palette.neutral;
  }

  /** Badges from the upper right corner on, over the border, so that they cover no title. */
  private badges(box: SceneBox): void {
    const { palette, surface } = this;
    if (!this.titles) return;
    const badges = this.decorated(box.item)?.badges ?? [];
    const grown = sizeOf(this.font.badge) / sizeOf(FONT.badge);
    badges.forEach(({ sign, colour }: Badge, at) => {
      const x = box.x + box.width - BADGE + 4 + (BADGE + 2) * at;
      const y = box.y - BADGE / 2 + 2;
      const plain = palette.plainOf(colour);
      const rim = { colour: palette.background, width: 1 };
      surface.box(x, y, BADGE, BADGE, BADGE / 2, plain, rim);
      const inner = x + (BADGE - 5.5 * grown * sign.length) / 2;
      surface.text(sign, inner, y + BADGE / 2 + 0.5, this.font.badge, palette.background, BADGE);
    });
  }

  /** Title, and the lines below it, on a plate of their own or on the ground of the box. */
  private words(box: SceneBox, rim: number, plate: boolean): void {
    const { palette, surface } = this;
    const left = box.x + PAD_X;
    // What is enlarged to be read may go on into the space at its end.
    const room = box.width - PAD_X - (sizeOf(this.font.text) > sizeOf(FONT.text) ? 3 : PAD_X - 2);
    const middle = box.y + TITLE / 2 + 0.5;
    const titleRoom = box.sign ? room - SIGN : room;
    const { lines, title } = this.wordsOf(box);
    if (plate && box.lines.length > 0) {
      const height = box.height - TITLE - 1.5;
      const inner = rim - 1.5;
      surface.box(box.x + 1.5, box.y + TITLE, box.width - 3, height, inner, palette.surface);
    }
    surface.text(title, left, middle, this.font.title, palette.text, titleRoom);
    if (box.sign) {
      surface.text(box.sign, box.x + box.width - SIGN, middle, this.font.text, palette.muted, 20);
    }
    if (!this.texts) return;
    // The box has room for its own lines.
    lines.slice(0, box.lines.length).forEach((line, index) => {
      this.line(line, left, box.y + TITLE + LINE * (index + 0.5) + 2, room);
    });
  }

  /** A text of several colours, cut where there is no more room for it and what stays whole. */
  private line(
    line: Line,
    x: number,
    y: number,
    room: number,
    kind: "text" | "label" = "text",
  ): void {
    const { palette, surface } = this;
    const font = this.font[kind];
    const grown = sizeOf(font) / sizeOf(FONT[kind]); // they were measured at life-size
    let at = 0;
    let whole = line.pieces.reduce((sum, { firm, width }) => sum + (firm ? width * grown : 0), 0);
    for (const { firm, symbol, text, width } of line.pieces) {
      if (firm) whole -= width * grown;
      const own = symbol >= 0 ? palette.symbols[symbol % palette.symbols.length] : undefined;
      const most = room - at - whole;
      surface.text(text, x + at, y, font, own ?? palette.muted, most);
      at += Math.min(width * grown, Math.max(most, 0));
      if (at >= room) return;
    }
  }

  /** A value from outside: its name, in a separate pill. */
  private port(box: SceneBox): void {
    const { palette, surface } = this;
    const dashed = { ...this.outline(box), dash: [3, 2] };
    surface.box(box.x, box.y, box.width, box.height, 9, palette.background, dashed);
    if (!this.titles) return;
    const middle = box.y + box.height / 2 + 0.5;
    const room = box.width - 10;
    const grown = sizeOf(this.font.label) / sizeOf(FONT.label);
    const left = box.x + Math.max((box.width - box.titleWidth * grown) / 2, 5);
    surface.text(box.item.title, left, middle, this.font.label, palette.muted, room);
  }

  /** A mark below a box whose value leaves the container. */
  private exit(box: SceneBox, colour: string): void {
    const x = box.x + box.width / 2;
    const y = box.y + box.height + 2;
    this.surface.triangle([x - 5, y, x + 5, y, x, y + 6], colour);
  }

  private outline(box: SceneBox, accent: Accent = this.palette.neutral): Stroke {
    const { marks, palette } = this;
    if (marks.lit.has(box.item)) return { colour: palette.select, width: 2 };
    if (marks.hovered === box.item) return { colour: palette.select, width: 1.5 };
    if (marks.near.has(box.item)) return { colour: accent.plain, width: 1.75 };
    if (marks.path?.has(box.item)) return { colour: palette.select, width: 1.25 };
    const decorated = this.decorated(box.item);
    const colour = this.plain(decorated?.colour || decorated?.rim);
    if (colour) return { colour, width: 1.75 };
    return { colour: accent.line, width: 1 };
  }

  private edge(edge: SceneEdge, strong: boolean): void {
    const { marks, palette, surface } = this;
    const { from, to } = edge.link;
    this.fadeUnless(marks.path === null || (marks.path.has(from) && marks.path.has(to)));
    const only = edge.link.sides === BEFORE ? palette.removed : palette.added;
    const plain = edge.link.sides === BEFORE || edge.link.sides === AFTER ? only : palette.edge;
    const colour = strong ? palette.select : plain;
    const width = Math.max(strong ? 1.75 : 1.1, 0.5 / this.zoom);
    surface.curve(edge.points, { colour, width });
    if (6 * this.zoom >= 2) surface.triangle(arrow(edge.points), colour);
    if (edge.label && this.texts) {
      const [middle, y] = edge.label;
      const grown = sizeOf(this.font.label) / sizeOf(FONT.label);
      const text = this.marks.textOf?.(edge.link) ?? edge.text;
      const room = labelRoom(text);
      // It grows away from its edge, which is at its left.
      this.line(text, middle - room / 2, y, Math.max(room, text.width * grown) + 2, "label");
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

/** The fonts of a scene of which a unit is so many CSS pixels. */
function fontsAt(zoom: number): Fonts {
  const least = leastSize(zoom);
  const enlarged = (font: string): string =>
    font.replace(/([\d.]+)px/, (_, size: string) => `${Math.max(Number(size), least)}px`);
  return zoom >= 1
    ? FONT
    : {
        title: enlarged(FONT.title),
        text: enlarged(FONT.text),
        label: enlarged(FONT.label),
        badge: enlarged(FONT.badge),
      };
}

/** The shades of a box that is decorated with a colour. */
function shades(colour: string, palette: Palette): Accent {
  return {
    plain: colour,
    soft: mix(colour, palette.surface, 0.2),
    line: colour,
    patch: colour,
  };
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
