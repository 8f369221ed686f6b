/** The line of `%export` in a cell, with other shapes. Pure; nothing is evaluated. */

import { linesAsRun } from "./lines_as_run";
import { lineStarts, type TextChange } from "./text_changes";

const EXPORT = /^\s*(?:\w+\s*=\s*)?%(%?)export(?=\s|$)/;
const WORD = /(?:[^\s"']|"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')+/g;
const DYNAMIC = /^(-d|--dynamic|-D)(=|$)/;

/** Why a line cannot be rewritten: a sentence. */
export class NoLine extends Error {}

/**
 * The edit that gives the line of a call other shapes: its `-d` is replaced or inserted.
 *
 * @param cell the text of a cell
 * @param call the call of the line, on one line
 * @param shapes in the short language
 * @throws NoLine
 */
export function withShapes(cell: string, call: string, shapes: string): TextChange {
  const found = optionsOf(cell, call);
  const [options] = found;
  if (!options)
    throw new NoLine(`The cell has no line %export … ${call}. Write -d there yourself.`);
  if (found.length > 1) {
    throw new NoLine(`The cell exports ${call} more than once. Write -d into the line you mean.`);
  }
  const asked = `-d ${quoted(shapes)}`;
  const words = [...options.text.matchAll(WORD)];
  const at = words.findIndex(([word]) => DYNAMIC.test(word));
  const word = words[at];
  if (!word) return { start: options.start, end: options.start, text: ` ${asked}` };
  const last = word[0].includes("=") ? word : (words[at + 1] ?? word);
  return {
    start: options.start + word.index,
    end: options.start + last.index + last[0].length,
    text: asked,
  };
}

interface Options {
  start: number;
  /** Between `%export` and the call. */
  text: string;
}

function optionsOf(cell: string, call: string): Options[] {
  const starts = lineStarts(cell);
  return linesAsRun(cell).lines.flatMap(({ first, last }): Options[] => {
    const from = starts[first - 1] ?? 0;
    const line = cell.slice(from, (starts[last] ?? cell.length + 1) - 1);
    const magic = EXPORT.exec(line);
    if (!magic) return [];
    const start = from + magic[0].length;
    const rest = line.slice(magic[0].length);
    if (magic[1]) return first === 1 || !cell.slice(0, from).trim() ? [{ start, text: rest }] : [];
    for (const { index } of rest.matchAll(WORD)) {
      if (isCall(rest.slice(index), call)) return [{ start, text: rest.slice(0, index) }];
    }
    return [];
  });
}

/** Whether a text is the call, perhaps with the name that it is assigned to, and a comment. */
function isCall(text: string, call: string): boolean {
  const given = spaced(text).replace(/^\w+ ?= ?(?!=)/, "");
  const wanted = spaced(call);
  return given.startsWith(wanted) && /^ ?(#.*)?$/.test(given.slice(wanted.length));
}

const spaced = (text: string): string => text.replace(/(\\\n|\s)+/g, " ").trim();

function quoted(shapes: string): string {
  if (!/["\\]/.test(shapes)) return `"${shapes}"`;
  if (!/['\\]/.test(shapes)) return `'${shapes}'`;
  throw new NoLine(`The shapes cannot be quoted in one line: ${shapes}`);
}
