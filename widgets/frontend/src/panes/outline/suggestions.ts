/** Completions of the search box: fields of a query, and their values. Pure. */

import type { Program } from "../../program";
import { textsOf } from "../../query/asked";
import { ALSO, FIELDS } from "../../query/fields.gen";

export interface Suggestion {
  /** The whole text of the box with it taken. */
  text: string;
  /** Where the caret is then. */
  caret: number;
  shown: string;
  means: string;
}

const MOST = 8;
const OFFERED = new Set([
  "op",
  "kind",
  "dtype",
  "device",
  "symbol",
  "function",
  "tag",
  "delegated",
]);

/** What can be put in place of what stands before the caret; nothing while that is complete. */
export function suggestions(program: Program, text: string, caret: number): Suggestion[] {
  const before = text.slice(0, caret);
  const value = /(?:^|[\s&|!(])([A-Za-z_]+):([^\s&|()":]*)$/.exec(before);
  if (value) return values(program, text, caret, value[1] ?? "", value[2] ?? "");
  const word = /(?:^|[\s&|!(])([A-Za-z_][\w.]*)$/.exec(before)?.[1] ?? "";
  if (!word) return [];
  const start = caret - word.length;
  const overlays = program.record.overlays
    .filter(({ name }) => /^[A-Za-z_]\w*$/.test(name))
    .map(({ name, kind }) => ({
      name: `overlay.${name}`,
      match: kind === "number" ? "number" : "contains",
      means: "An overlay of this program",
    }));
  return [...FIELDS, ...overlays]
    .filter(({ name }) => name.startsWith(word.toLowerCase()))
    .slice(0, MOST)
    .map(({ name, match, means }) => {
      const shown = match === "number" ? `${name} ` : `${name}:`;
      return { ...taken(text, start, caret, shown), shown: shown.trim(), means };
    });
}

function values(
  program: Program,
  text: string,
  caret: number,
  asked: string,
  typed: string,
): Suggestion[] {
  const field = ALSO[asked] ?? asked;
  if (!OFFERED.has(field)) return [];
  const counts = new Map<string, number>();
  textsOf(program, field)?.(program, (_, texts) => {
    for (const each of texts) counts.set(each, (counts.get(each) ?? 0) + 1);
  });
  counts.delete(typed);
  return [...counts]
    .filter(
      ([each]) => each.toLowerCase().startsWith(typed.toLowerCase()) && !/[\s"&|()]/.test(each),
    )
    .sort(([a, of], [b, other]) => other - of || a.localeCompare(b))
    .slice(0, MOST)
    .map(([each, count]) => ({
      ...taken(text, caret - typed.length, caret, `${each} `),
      shown: each,
      means: count === 1 ? "once" : `${count} times`,
    }));
}

function taken(
  text: string,
  from: number,
  to: number,
  put: string,
): Pick<Suggestion, "text" | "caret"> {
  return { text: text.slice(0, from) + put + text.slice(to), caret: from + put.length };
}
