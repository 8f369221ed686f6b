/**
 * The lines of a cell as its kernel counts them. IPython drops empty lines and an indentation that
 * a cell begins with, and joins a magic's continued lines: the Record's line 3 may be another one
 * in the editor. Pure.
 */

export interface RunLine {
  /** As it is compared: without what does not matter to a magic. */
  text: string;
  /** The lines of the editor that it is made of, from 1, the last included. */
  first: number;
  last: number;
}

export interface RunLines {
  lines: RunLine[];
  /** The prefix of each line in the editor that the kernel did not see. */
  indent: string;
}

const MAGIC = /^(\s*(?:[\w.,\s]+=)?\s*)[%!](?!=)/;
const CELL_MAGIC = /^(?:# )?%%/;
const HELP = /^\s*(?:(\?{1,2})\s*([%\w.*]+)|([%\w.*]+)(\?{1,2}))\s*$/;

export function linesAsRun(text: string): RunLines {
  const given = text.split(/\r\n|\r|\n/);
  let at = given.findIndex((line) => line.trim() !== "");
  if (at < 0) return { lines: [], indent: "" };
  const indent = /^[ \t]*/.exec(given[at] ?? "")?.[0] ?? "";
  const lines: RunLine[] = [];
  for (; at < given.length; at++) {
    const first = at + 1;
    let line = without(indent, given[at] ?? "");
    if (MAGIC.test(line)) {
      while (/\\\s*$/.test(line) && at + 1 < given.length) {
        line = `${line.replace(/\\\s*$/, " ")}${given[++at]}`;
      }
    }
    lines.push({ text: compared(line, lines.length === 0), first, last: at + 1 });
  }
  while (lines.at(-1)?.text === "") lines.pop();
  return { lines, indent };
}

const without = (indent: string, line: string): string =>
  line.startsWith(indent) ? line.slice(indent.length) : line;

/** A line as it is compared. The kernel keeps `# %%export` of a cell magic, and `%pinfo x` of `x?`. */
function compared(line: string, isFirst: boolean): string {
  if (isFirst && CELL_MAGIC.test(line)) return spaced(`# ${line.replace(/^# /, "")}`);
  const help = HELP.exec(line);
  if (help) return `%pinfo${(help[1] ?? help[4])?.length === 2 ? "2" : ""} ${help[2] ?? help[3]}`;
  return MAGIC.test(line) ? spaced(line) : line.trimEnd();
}

const spaced = (line: string): string => line.replace(/\s+/g, " ").trim();

/** Whether two texts are the same to a kernel, line by line. */
export function isSameText(one: string, other: string): boolean {
  if (one === other) return true;
  const [a, b] = [linesAsRun(one).lines, linesAsRun(other).lines];
  return a.length === b.length && a.every((line, index) => line.text === b[index]?.text);
}

/** The line of the editor at which a line of the kernel's begins; both from 1. */
export function lineInEditor(text: string, line: number): number {
  return linesAsRun(text).lines[line - 1]?.first ?? line;
}

/** The line of the kernel's that a line of the editor is part of; both from 1, 0 for none. */
export function lineInKernel(text: string, line: number): number {
  return linesAsRun(text).lines.findIndex(({ first, last }) => first <= line && line <= last) + 1;
}
