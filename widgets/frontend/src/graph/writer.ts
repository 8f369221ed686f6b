/** The texts of boxes and edges, and how wide they are. Made once for a drawing. */

import type { Sides } from "../forest/differing";
import type { Item } from "../forest/items";
import { ensure } from "../maps";
import type { Drawing } from "./drawing";
import { boxLines, edgePieces, type Piece } from "./labels";
import type { Link } from "./links";
import { FONT, type Line, type Measure, type Words } from "./scene";

export interface Writer {
  box(item: Item): Words;
  /** A box in one of two programs; null if it is not known to be there. */
  boxOn(side: keyof Sides, item: Item): Words | null;
  edge(link: Link): Line;
  /** The value of an edge in one of two programs; null if it is missing. */
  edgeOn(side: keyof Sides, link: Link): Line | null;
}

/** Texts already made for a drawing, reused by its next sketch. */
const writers = new WeakMap<Drawing, { measure: Measure; writer: Writer }>();

export function writerOf(drawing: Drawing, measure: Measure): Writer {
  const known = writers.get(drawing);
  if (known?.measure === measure) return known.writer;
  const writer = makeWriter(drawing, measure);
  writers.set(drawing, { measure, writer });
  return writer;
}

function makeWriter(drawing: Drawing, measure: Measure): Writer {
  const { dtype, links, notes, ops, program, sides } = drawing;
  const line = (pieces: Piece[], font: string): Line => {
    const widths = pieces.map(({ text }) => measure(evenNumber(text), font));
    const width = widths.reduce((sum, each) => sum + each, 0);
    // If nothing follows, its own width does not matter, since each op has a different name.
    const exact = pieces.length > 1;
    return {
      pieces: pieces.map((piece) => ({
        ...piece,
        width: exact ? measure(piece.text, font) : width,
      })),
      width,
    };
  };
  const boxes = new Map<Item, Words>();
  const boxesOn = { before: new Map<Item, Words | null>(), after: new Map<Item, Words | null>() };
  const edges = new Map<string, Line>();
  const edgesOn = { before: new Map<Link, Line | null>(), after: new Map<Link, Line | null>() };
  const words = (item: Item, lines: Piece[][]): Words => {
    return {
      title: item.title,
      titleWidth: measure(item.title, item.kind === "port" ? FONT.label : FONT.title),
      sign: item.children.length > 0 ? "▸" : "",
      lines: lines.map((each) => line(each, FONT.text)),
    };
  };
  const write = (item: Item): Words => {
    const taps = links.taps(item);
    const lines = item.kind === "port" ? [] : boxLines(program, item, taps, notes(item), ops(item));
    return words(item, lines);
  };
  const writeOn = (key: keyof Sides, item: Item): Words | null => {
    const side = sides?.[key];
    const twin = side?.itemOf(item);
    if (!side || (!twin && item.children.length === 0)) return null;
    const taps = links.taps(item).filter(({ node }) => side.nodeOf(node) !== undefined);
    const of = twin ? side.program : program;
    return words(twin ?? item, boxLines(of, twin ?? item, taps, side.notes(item), side.ops(item)));
  };
  const writeEdgeOn = (key: keyof Sides, link: Link): Line | null => {
    const side = sides?.[key];
    const values = link.values.flatMap((node) => side?.nodeOf(node) ?? []);
    if (!side || values.length === 0) return null;
    return line(edgePieces(side.program, { ...link, values }, dtype), FONT.label);
  };
  return {
    box: (item) => ensure(boxes, item, () => write(item)),
    boxOn: (side, item) => ensure(boxesOn[side], item, () => writeOn(side, item)),
    edgeOn: (side, link) => ensure(edgesOn[side], link, () => writeEdgeOn(side, link)),
    // Most edges carry values of a few types.
    edge: (link) =>
      ensure(edges, `${program.typeIndex(link.values[0] ?? -1)} ${link.values.length}`, () =>
        line(edgePieces(program, link, dtype), FONT.label),
      ),
  };
}

/**
 * A node's name with other digits, so that its like in other layers share a width and a layout:
 * `add_9` as `add_000`, `add_1234` as `add_0000`.
 */
function evenNumber(name: string): string {
  return name.replace(
    /_(\d+)(?=,|$)/g,
    (_, digits: string) => `_${"0".repeat(Math.max(digits.length, 3))}`,
  );
}
