/**
 * The names of a program's nodes as one text for each graph. A pattern goes through a text in one
 * pass, which takes a fraction of a test for each of a hundred thousand names. Pure.
 */

import { ensure } from "./maps";
import type { Program } from "./program";

interface Names {
  /** One name a line. */
  text: string;
  /** Where each name begins in it. */
  starts: Uint32Array;
}

/**
 * Which names a pattern is found in: for each graph, 1 for each node whose name it is in.
 *
 * @param pattern matches no line break
 */
export function namesFound(program: Program, pattern: RegExp): Uint8Array[] {
  const all = new RegExp(pattern.source, `${pattern.flags}g`);
  return ensure(known, program, () => namesOf(program)).map((names) => linesFound(names, all));
}

const known = new WeakMap<Program, Names[]>();

function namesOf(program: Program): Names[] {
  const { graphs, strings } = program.record;
  return graphs.map(({ name }) => {
    const starts = new Uint32Array(name.length);
    const lines: string[] = [];
    let length = 0;
    for (let at = 0; at < name.length; at++) {
      const line = strings[name[at] ?? -1] ?? "";
      lines.push(line);
      starts[at] = length;
      length += line.length + 1;
    }
    return { text: lines.join("\n"), starts };
  });
}

function linesFound({ text, starts }: Names, pattern: RegExp): Uint8Array {
  const found = new Uint8Array(starts.length);
  let line = 0;
  let from = 0;
  pattern.lastIndex = from;
  while (pattern.test(text)) {
    const last = Math.max(pattern.lastIndex - 1, from); // in the line of the match, as all of it is
    while ((starts[line + 1] ?? text.length + 1) <= last) line += 1;
    found[line] = 1;
    const next = starts[line + 1];
    if (next === undefined) break;
    from = next;
    pattern.lastIndex = from;
  }
  return found;
}
