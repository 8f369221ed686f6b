/**
 * The boxes for a set of open items, with their texts and least sizes, and what a layout has to
 * know of them. Of the boxes already on the canvas, only those around an opened or closed
 * item are rebuilt. Lengths are CSS pixels at zoom 1.
 */

import type { Item } from "../forest/items";
import { ensure } from "../maps";
import type { Rect } from "./camera";
import type { Drawing } from "./drawing";
import type { LayoutBox, LayoutLink } from "./layout_types";
import {
  GROWN,
  HEADER,
  LINE,
  type Line,
  labelRoom,
  type Measure,
  PAD_X,
  type SceneBox,
  type SceneEdge,
  SIGN,
  TITLE,
} from "./scene";
import { finished } from "./steps";
import { writerOf } from "./writer";

const PAD_Y = 6;
const WIDEST = 260;
const NARROWEST = 60;
/** Widths are multiples of this, so that scopes that differ by some pixels share a layout. */
const WIDTH_STEP = 8;
const WIDEST_HEADER = 420;
const WIDEST_PORT = 150;
/** Enlarged lines of a box may go on so far into the space at its end. */
const SLACK = 7;
const NOWHERE: Rect = { x: 0, y: 0, width: 0, height: 0 };
const NO_TEXT: Line = { pieces: [], width: 0 };

/** What is on the canvas of the same drawing, and what is open there. */
export interface Before {
  boxOf: ReadonlyMap<Item, SceneBox>;
  open: ReadonlySet<string>;
}

/** The boxes and edges while `open` items are open, not yet placed. */
export function sketch(drawing: Drawing, open: ReadonlySet<string>, measure: Measure): SceneBox {
  return finished(sketching(drawing, open, measure, null));
}

/**
 * The same in steps, one for each open box. A value is labelled on the first edge it flows along,
 * but not on the way into an open box, nor if its own box already shows it.
 */
export function* sketching(
  drawing: Drawing,
  open: ReadonlySet<string>,
  measure: Measure,
  before: Before | null,
): Generator<void, SceneBox> {
  const writer = writerOf(drawing, measure);
  const { forest, links } = drawing;
  const changed = before && changedBy(drawing, before.open, open);
  const edgesOf = (item: Item): SceneEdge[] => {
    const named = new Set<string>();
    return links.inside(item).map((link) => {
      const name = `${link.from.at} ${link.values.join()}`; // keys are long; no two ports have a value
      const entersOpen = link.from.kind === "port" && open.has(link.to.key);
      const isNamed = named.has(name) || entersOpen || link.from.kind === "parameter";
      named.add(name);
      const text = isNamed ? NO_TEXT : writer.edge(link);
      return { link, text, points: [], bounds: NOWHERE, label: null };
    });
  };
  const todo: SceneBox[] = [];
  const made = (item: Item, depth: number): SceneBox => {
    const known = changed?.has(item) === false ? before?.boxOf.get(item) : undefined;
    if (known) return known;
    const { title, titleWidth, sign, lines } = writer.box(item);
    const box: SceneBox = {
      // Written out: there may be a hundred thousand, and spreading two objects is much slower.
      x: 0,
      y: 0,
      width: 0,
      height: 0,
      title,
      titleWidth,
      sign,
      lines,
      item,
      open: depth === 0 || (item.children.length > 0 && open.has(item.key)),
      depth,
      exits: links.exits(item),
      children: [],
      edges: [],
      placed: false,
    };
    if (box.open) todo.push(box);
    return box;
  };
  const root = made(forest.root, 0);
  for (const box of todo) {
    const { depth, item } = box;
    box.children = [...links.ports(item), ...item.children].map((child) => made(child, depth + 1));
    box.edges = edgesOf(item);
    yield;
  }
  return root;
}

/** Items that were opened or closed, and those around them. */
function changedBy(
  { forest }: Drawing,
  before: ReadonlySet<string>,
  now: ReadonlySet<string>,
): ReadonlySet<Item> {
  const found = new Set<Item>([forest.root]);
  for (const [some, others] of [
    [before, now],
    [now, before],
  ] as const) {
    for (const key of some) {
      if (others.has(key)) continue;
      const item = forest.openable.get(key);
      for (let at = item ?? null; at && !found.has(at); at = at.parent) found.add(at);
    }
  }
  return found;
}

/** The input of a layout, from a sketch. */
export function layoutBox(root: SceneBox): LayoutBox {
  return finished(layingOut(root));
}

/**
 * The same in steps. Boxes that are alike are one object, so that a model of a hundred equal layers
 * is sent as one; a box that has its place is only as large as it is.
 */
export function* layingOut(root: SceneBox): Generator<void, LayoutBox> {
  const open = [root];
  for (const box of open) {
    for (const child of box.children) if (child.open && !child.placed) open.push(child);
  }
  const alike = new Alike();
  const groups = new Map<SceneBox, LayoutBox>();
  for (const box of open.reverse()) {
    const children = box.children.map((child) => groups.get(child) ?? alike.leaf(child));
    const positions = new Map(box.children.map((child, index) => [child.item, index]));
    const links = box.edges.map(({ link, text }): LayoutLink => {
      const room = text.width > 0 ? stepped(labelRoom(text) + 8) : 0;
      return [positions.get(link.from) ?? 0, positions.get(link.to) ?? 0, room];
    });
    groups.set(box, alike.group(box, children, links));
    yield;
  }
  return groups.get(root) as LayoutBox;
}

/** Boxes of equal size and content, each once. */
class Alike {
  private readonly known = new Map<string, LayoutBox>();
  private readonly numbers = new Map<LayoutBox, number>();

  leaf(box: SceneBox): LayoutBox {
    const first = box.item.kind === "input" || box.item.kind === "port";
    const { width, height } = box.open ? box : leafSize(box);
    return this.one(`${width} ${height} ${first}`, () => ({ width, height, first }));
  }

  group(box: SceneBox, children: LayoutBox[], links: LayoutLink[]): LayoutBox {
    const width = box.depth > 0 ? headerWidth(box) : 0;
    const height = box.depth > 0 ? HEADER : 0;
    const inside = children.map((child) => this.numbers.get(child)).join(" ");
    const key = `${width} ${height}|${inside}|${links.join(" ")}`;
    return this.one(key, () => ({ width, height, children, links }));
  }

  private one(key: string, make: () => LayoutBox): LayoutBox {
    const box = ensure(this.known, key, make);
    ensure(this.numbers, box, () => this.numbers.size);
    return box;
  }
}

function leafSize({ item, lines, sign, titleWidth }: SceneBox): { width: number; height: number } {
  if (item.kind === "port") {
    const wide = titleWidth * GROWN.label + 16;
    return { width: stepped(Math.min(wide, WIDEST_PORT)), height: 18 };
  }
  const head = titleWidth * GROWN.title + (sign ? SIGN : 0);
  const widest = Math.max(head, ...lines.map(({ width }) => width * GROWN.text)) - SLACK;
  const rows = lines.length > 0 ? PAD_Y + LINE * lines.length : 0;
  return {
    width: stepped(Math.min(Math.max(widest + 2 * PAD_X, NARROWEST), WIDEST)),
    height: TITLE + rows,
  };
}

function headerWidth({ titleWidth, lines }: SceneBox): number {
  const subtitle = lines[0]?.width ?? 0;
  const wide = titleWidth * GROWN.title + subtitle * GROWN.text + 44;
  return stepped(Math.min(wide, WIDEST_HEADER));
}

function stepped(width: number): number {
  return Math.ceil(width / WIDTH_STEP) * WIDTH_STEP;
}
