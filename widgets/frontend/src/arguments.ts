/** The arguments of an op by the names in its schema. Pure. */

import { ensure } from "./maps";
import type { ArgumentPiece, NodeId, Program } from "./program";

export interface Argument {
  /** Empty if no schema names it. */
  name: string;
  pieces: ArgumentPiece[];
  /** Whether it is what the op takes anyway. */
  isDefault: boolean;
}

interface Parameter {
  name: string;
  /** As the schema prints it; null for a parameter without one. */
  standard: string | null;
}

/** The arguments of a node, in the order of the call. */
export function argumentsOf(program: Program, id: NodeId): Argument[] {
  const parameters = parametersOf(program.target(id)?.schema ?? "");
  let position = 0;
  return split(unwrapped(program.argumentPieces(id))).map((pieces) => {
    const keyword = keywordOf(pieces);
    const known = keyword
      ? parameters.find(({ name }) => name === keyword.name)
      : parameters[position++];
    const value = keyword?.pieces ?? pieces;
    const text = textOf(value);
    return {
      name: keyword?.name ?? known?.name ?? "",
      pieces: value,
      isDefault: text !== null && known !== undefined && isStandard(text, known),
    };
  });
}

/** `stride=2, padding=1`: an op's settings other than tensors, without defaults. */
export function settingsOf(program: Program, id: NodeId): string {
  const settings = ensure(settingsKnown, program, () => new Map<string, string>());
  // They are in the text of the arguments, which many ops share.
  const key = `${program.targetIndex(id)} ${program.argumentsIndex(id)}`;
  return ensure(settings, key, () => settingsText(program, id));
}

const settingsKnown = new WeakMap<Program, Map<string, string>>();

function settingsText(program: Program, id: NodeId): string {
  const told = argumentsOf(program, id).flatMap(({ name, pieces, isDefault }) => {
    const text = textOf(pieces);
    if (isDefault || !name || name === "self" || text === null || text === "None") return [];
    return [`${name}=${short(text)}`];
  });
  return told.join(", ");
}

/** The text of pieces without a node; null if there is one. */
function textOf(pieces: readonly ArgumentPiece[]): string | null {
  let text = "";
  for (const piece of pieces) {
    if (!("text" in piece)) return null;
    text += piece.text;
  }
  return text.trim();
}

/** Without the brackets around all of them. */
function unwrapped(pieces: readonly ArgumentPiece[]): ArgumentPiece[] {
  const [first, last] = [pieces[0], pieces.at(-1)];
  const isWrapped =
    first && "text" in first && first.text.startsWith("(") && last && "text" in last;
  if (!isWrapped || !last.text.endsWith(")")) return [...pieces];
  const inner: ArgumentPiece[] = pieces.map((piece) => ({ ...piece }));
  const [start, end] = [inner[0] as { text: string }, inner.at(-1) as { text: string }];
  start.text = start.text.slice(1);
  end.text = end.text.slice(0, -1);
  return inner.filter((piece) => !("text" in piece) || piece.text !== "");
}

/** Apart at the commas that are within no brackets and no quotes. */
function split(pieces: readonly ArgumentPiece[]): ArgumentPiece[][] {
  const found: ArgumentPiece[][] = [[]];
  let depth = 0;
  let quote = "";
  for (const piece of pieces) {
    if (!("text" in piece)) {
      found.at(-1)?.push(piece);
      continue;
    }
    let text = "";
    const put = (): void => {
      if (text.trim()) found.at(-1)?.push({ text: text.trimStart() });
      text = "";
    };
    for (let at = 0; at < piece.text.length; at++) {
      const each = piece.text.charAt(at);
      if (quote) {
        if (each === "\\") text += piece.text.charAt(at++);
        else if (each === quote) quote = "";
      } else if (each === "'" || each === '"') quote = each;
      else if ("([{".includes(each)) depth += 1;
      else if (")]}".includes(each)) depth -= 1;
      else if (each === "," && depth === 0) {
        put();
        found.push([]);
        continue;
      }
      text += piece.text.charAt(at);
    }
    put();
  }
  return found.filter((each) => each.length > 0);
}

function keywordOf(
  pieces: readonly ArgumentPiece[],
): { name: string; pieces: ArgumentPiece[] } | null {
  const [first, ...rest] = pieces;
  const found = first && "text" in first ? /^(\w+)=(.*)$/s.exec(first.text) : null;
  if (!found) return null;
  const [, name = "", text = ""] = found;
  return { name, pieces: text ? [{ text }, ...rest] : rest };
}

const known = new Map<string, Parameter[]>();
const MOST_KNOWN = 2000;

/** The parameters of a schema as torch prints it: `aten::add(Tensor self, *, Scalar alpha=1) -> …`. */
function parametersOf(schema: string): Parameter[] {
  const before = known.get(schema);
  if (before) return before;
  const start = schema.indexOf("(");
  const end = schema.lastIndexOf(") -> ");
  const inner = start < 0 || end < start ? "" : schema.slice(start + 1, end);
  const made = split([{ text: inner }]).flatMap((pieces): Parameter[] => {
    const text = textOf(pieces) ?? "";
    const found = /(\w+)(?:=(.*))?$/s.exec(text);
    return found && text !== "*" ? [{ name: found[1] ?? "", standard: found[2] ?? null }] : [];
  });
  if (known.size < MOST_KNOWN) known.set(schema, made);
  return made;
}

/** Of parameters without a default that is a value, what amounts to none. */
const AS_NONE: readonly string[] = ["None", "False", "torch.strided"];
/** The largest int64, which torch writes for the end of a slice to the end. */
const TO_THE_END = "9223372036854775807";

function isStandard(text: string, { name, standard }: Parameter): boolean {
  if (standard === null) return false;
  if (text === TO_THE_END || (name === "start" && text === "0")) return true;
  if (standard === "None" && AS_NONE.includes(text)) return true;
  return text === standard || short(text) === short(standard) || Number(text) === Number(standard);
}

/** A list of equal numbers as one of them: `[2, 2]` as `2`, which torch takes as well. */
function short(text: string): string {
  const items = /^\[(-?\d+(?:, ?-?\d+)+)\]$/.exec(text)?.[1]?.split(/, ?/) ?? [];
  return items.length > 1 && new Set(items).size === 1 ? (items[0] ?? text) : text;
}
