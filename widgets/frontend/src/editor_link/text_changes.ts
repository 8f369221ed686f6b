/** Changes of lines, as the kernel counts them, as changes of an editor's text. Pure. */

import type { Hunk } from "../messages.gen";
import { linesAsRun } from "./lines_as_run";

/** A part of a text, by its offsets, and what is to be there instead. */
export interface TextChange {
  start: number;
  end: number;
  text: string;
}

/**
 * The changes of an editor's text that hunks of the exported text are. Both texts must be the same
 * to the kernel, as `isSameText` says.
 */
export function changesOf(text: string, hunks: readonly Hunk[]): TextChange[] {
  const { lines, indent } = linesAsRun(text);
  const starts = lineStarts(text);
  const lineEnd = (line: number): number => {
    const next = starts[line];
    return next === undefined ? text.length : next - 1;
  };
  const end = lineEnd(lines.at(-1)?.last ?? 0);
  return hunks.map(({ first, count, lines: added }) => {
    const body = added.map((line) => (line ? indent + line : line)).join("\n");
    const from = lines[first - 1];
    if (!from) return { start: end, end, text: `\n${body}` }; // after the last line
    const start = starts[from.first - 1] ?? 0;
    if (count === 0) return { start, end: start, text: `${body}\n` };
    const last = lines[first + count - 2]?.last ?? from.last;
    if (added.length > 0) return { start, end: lineEnd(last), text: body };
    return { start, end: Math.min(lineEnd(last) + 1, text.length), text: "" };
  });
}

/** The text after changes, which do not overlap. */
export function changed(text: string, changes: readonly TextChange[]): string {
  let found = text;
  for (const change of lastFirst(changes)) {
    found = found.slice(0, change.start) + change.text + found.slice(change.end);
  }
  return found;
}

/** In the order in which no change moves what another one is about. */
export const lastFirst = (changes: readonly TextChange[]): TextChange[] =>
  changes.toSorted((a, b) => b.start - a.start || b.end - a.end);

/** Offsets at which lines begin. */
export function lineStarts(text: string): number[] {
  const starts = [0];
  for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) starts.push(at + 1);
  return starts;
}

/** A line of a change as it is shown: ` ` stays, `-` goes, `+` comes. */
export type DiffLine = readonly [sign: " " | "-" | "+", text: string];

const AROUND = 2;

/** A diff of changes to a text, line by line, with a few lines around each. */
export function diffLines(text: string, changes: readonly TextChange[]): DiffLine[] {
  const found: DiffLine[] = [];
  const old = text.split("\n");
  const parts = changes.toSorted((a, b) => a.start - b.start).map((each) => lineChange(text, each));
  let shown = 0;
  const keep = (from: number, to: number): void => {
    for (const line of old.slice(Math.max(from, shown), to)) found.push([" ", line]);
    shown = Math.max(shown, Math.min(to, old.length));
  };
  parts.forEach(({ top, before, after }, index) => {
    keep(top - AROUND, top);
    for (const line of before) found.push(["-", line]);
    for (const line of after) found.push(["+", line]);
    shown = top + before.length;
    keep(shown, Math.min(shown + AROUND, parts[index + 1]?.top ?? old.length));
  });
  return found;
}

/** A change as whole lines, from the first that differs to the last. */
function lineChange(text: string, { start, end, text: added }: TextChange) {
  const starts = lineStarts(text);
  const first = starts.findLastIndex((each) => each <= start);
  const last = starts.findLastIndex((each) => each <= end);
  const from = starts[first] ?? 0;
  const lines = text.slice(from, (starts[last + 1] ?? text.length + 1) - 1);
  const now = lines.slice(0, start - from) + added + lines.slice(end - from);
  const [one, other] = [lines.split("\n"), now.split("\n")];
  const least = Math.min(one.length, other.length);
  let same = 0;
  while (same < least && one[same] === other[same]) same++;
  let tail = 0;
  while (tail < least - same && one.at(-1 - tail) === other.at(-1 - tail)) tail++;
  const middle = (all: string[]): string[] => all.slice(same, all.length - tail);
  return { top: first + same, before: middle(one), after: middle(other) };
}
