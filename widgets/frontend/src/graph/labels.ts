/**
 * The labels of edges and boxes: short texts in which each symbol has its colour. Pure.
 */

import { settingsOf } from "../arguments";
import type { Item } from "../forest/items";
import { capped, counted } from "../format";
import type { Program } from "../program";
import type { ValueType } from "../record.gen";
import type { Link } from "./links";

/** A part of a text that has one colour. */
export interface Piece {
  text: string;
  /** Symbol whose colour it has; -1 for none. */
  symbol: number;
  /** Whether it stays whole if the line has too little room: earlier text is cut. */
  firm?: boolean;
}

const MOST_SIZE = 24;
/** A longer formula is shortened to its symbols: `h…`; the tooltip has all of it. */
const MOST_FORMULA = 12;
const MOST_HELD = 4;
/** Characters. */
const MOST_HELD_LINE = 36;
const MOST_NOTES = 3;
const MOST_NOTE = 36;
const MOST_SETTINGS = 32;
/** A setting is left out as a whole, and a number is never cut. */
const CUT_SETTING = /(?<=, )[^,]*…$|\d+…$/;

const plain = (text: string): Piece => ({ text, symbol: -1 });

/** The dtype that most values of the program have, as types print it: `f32`. */
export function commonDtype(program: Program): string {
  const ofType = new Uint32Array(program.record.types.length);
  for (const { type } of program.record.graphs) {
    for (const each of type) if (each >= 0) ofType[each] = (ofType[each] ?? 0) + 1;
  }
  const counts = new Map<string, number>();
  program.record.types.forEach((type, at) => {
    const dtype = shortDtype(type);
    if (dtype && ofType[at]) counts.set(dtype, (counts.get(dtype) ?? 0) + (ofType[at] ?? 0));
  });
  return [...counts].sort((a, b) => b[1] - a[1])[0]?.[0] ?? "";
}

/**
 * The label of an edge: the sizes of its first value (`batch×4×seq`), its dtype if it is not the
 * `common` one, and how many more values there are.
 */
export function edgePieces(program: Program, link: Link, common: string): Piece[] {
  const type = program.type(link.values[0] ?? -1);
  const more = link.values.length > 1 ? [plain(` +${link.values.length - 1}`)] : [];
  if (!type || type.kind === "tuple") return more;
  if (type.kind !== "tensor") return [plain(capped(type.text, MOST_SIZE)), ...more];
  const dtype = shortDtype(type);
  const name = dtype === "b8" ? "bool" : dtype;
  const prefix = dtype && dtype !== common ? [plain(`${name} `)] : [];
  if (type.shape.length === 0) return [...prefix, plain("scalar"), ...more];
  return [...prefix, ...joined(program, type.shape, "×"), ...more];
}

/**
 * The lines of a box below its title.
 *
 * @param taps what it reads that has no edge to it
 * @param notes what else to say of it
 * @param ops how many ops are in it
 */
export function boxLines(
  program: Program,
  item: Item,
  taps: readonly Item[],
  notes: readonly string[] = [],
  ops = counted(item.ops, "op"),
): Piece[][] {
  const lines: Piece[][] = [];
  if (item.kind === "input" || item.kind === "parameter") {
    const type = program.type(item.node);
    const constant = program.input(item.node)?.constant;
    if (typeof constant === "string") lines.push([plain(constant)]);
    else if (type?.text) lines.push(typePieces(program, type));
  } else {
    const inside = item.children.length > 0 ? ops : "";
    const name = isNumbered(item) ? "" : item.subtitle;
    const count = { ...plain(name ? ` · ${inside}` : inside), firm: true };
    const line = [...(name ? [plain(name)] : []), ...(inside ? [count] : [])];
    if (line.length > 0) lines.push(line);
    const settings = item.kind === "op" ? settingsOf(program, item.node) : "";
    if (settings) lines.push([plain(capped(settings, MOST_SETTINGS).replace(CUT_SETTING, "…"))]);
  }
  lines.push(...heldLines(program, item));
  const rest = item.held.length - MOST_HELD;
  if (rest > 0) lines.push([plain(`… ${rest} more`)]);
  for (const note of notes.slice(0, MOST_NOTES)) lines.push([plain(capped(note, MOST_NOTE))]);
  if (taps.length > 0) lines.push([plain(`◂ ${taps.map(nameOf).join(", ")}`)]);
  return lines;
}

/** Whether an op's name says no more than its kind: `slice_28`. */
const isNumbered = ({ kind, subtitle, title }: Item): boolean =>
  kind === "op" &&
  subtitle.startsWith(`${title}_`) &&
  /^\d+$/.test(subtitle.slice(title.length + 1));

/** `weight 16×8 · bias 16`: an op's tensors, as many as fit on a line. */
function heldLines(program: Program, { held }: Item): Piece[][] {
  const lines: Piece[][] = [];
  let room = 0;
  for (const { node, name } of held.slice(0, MOST_HELD)) {
    const pieces = [plain(`${name} `), ...joined(program, program.type(node)?.shape ?? [], "×")];
    const length = pieces.reduce((sum, { text }) => sum + text.length, " · ".length);
    const line = length <= room ? lines.at(-1) : undefined;
    if (line) line.push(plain(" · "), ...pieces);
    else lines.push(pieces);
    room = (line ? room : MOST_HELD_LINE) - length;
  }
  return lines;
}

/** A box's tooltip: its full text in a line or two, with what the label cuts off. */
export function tipOf(program: Program, item: Item): string {
  if (item.node >= 0 && item.kind !== "output") {
    const target = program.target(item.node)?.name;
    const type = program.type(item.node)?.text;
    const name = program.input(item.node)?.target || program.name(item.node);
    return [`${name}: ${type}`, target]
      .filter(Boolean)
      .map((each) => capped(each ?? ""))
      .join("\n");
  }
  const scope = program.record.scopes[item.scope];
  const lines = scope ? [scope.path, scope.cls] : [item.title, item.subtitle];
  return lines
    .filter(Boolean)
    .map((each) => capped(each))
    .join("\n");
}

/** A type as torch prints it, `f32[batch, 128]`. */
function typePieces(program: Program, type: ValueType): Piece[] {
  if (type.kind !== "tensor" || type.shape.length === 0) return [plain(type.text)];
  return [plain(`${shortDtype(type)}[`), ...joined(program, type.shape, ", "), plain("]")];
}

function joined(program: Program, sizes: readonly (number | string)[], between: string): Piece[] {
  return sizes.flatMap((size, at): Piece[] => {
    const symbols = typeof size === "string" ? program.symbolsIn(size) : [];
    const isLong = symbols.length > 0 && String(size).length > MOST_FORMULA;
    const names = symbols.map((each) => program.record.symbols[each]?.name ?? "");
    const text = isLong ? `${names.join(",")}…` : capped(String(size), MOST_SIZE);
    const isFactor = between !== "×" || isLong || !isSum(String(size));
    const piece = { text: isFactor ? text : `(${text})`, symbol: symbols[0] ?? -1 };
    return at > 0 ? [plain(between), piece] : [piece];
  });
}

/**
 * Whether a size must be bracketed to be a factor: `h - 1`, `h // 2`, but not `2*h` or `max(h, 2)`.
 */
export function isSum(size: string): boolean {
  let depth = 0;
  for (let at = 0; at < size.length; at++) {
    const each = size[at] as string;
    if ("([".includes(each)) depth += 1;
    else if (")]".includes(each)) depth -= 1;
    else if (depth === 0 && at > 0 && "+-/%".includes(each)) return true;
  }
  return size.startsWith("-");
}

function shortDtype(type: ValueType | undefined): string {
  return type?.kind === "tensor" ? type.text.slice(0, Math.max(type.text.indexOf("["), 0)) : "";
}

/** An op by its name in the graph, anything else by its title. */
function nameOf(item: Item): string {
  return item.kind === "op" ? item.subtitle || item.title : item.title;
}
