/** Which frame of a stack is shown, and how calls came to a line. Pure. */

import type { Frame, NodeId, Program } from "./program";
import type { Selection } from "./selection";

export interface Caller {
  frame: Frame;
  /** How many of the line's ops were made through this call. */
  ops: number;
}

/** The lines that called what made a line's ops, in the order of their first op. */
export function callersOf(program: Program, file: number, line: number): Caller[] {
  const found = new Map<string, Caller>();
  for (const id of program.nodesAt(file, line)) {
    const stack = program.stack(id);
    const at = stack.findIndex((frame) => frame.file === file && frame.line === line);
    const frame = stack[at - 1];
    if (!frame) continue;
    const key = `${frame.file}:${frame.line}`;
    const known = found.get(key);
    if (known) known.ops += 1;
    else found.set(key, { frame, ops: 1 });
  }
  return [...found.values()];
}

/** The user's own frames; if there are none, the libraries'; else all. */
export function ownFrames(program: Program, frames: Frame[]): Frame[] {
  const from = (...origins: string[]): Frame[] =>
    frames.filter(({ file }) => origins.includes(program.record.files[file]?.origin ?? ""));
  const own = from("cell", "user");
  if (own.length > 0) return own;
  const library = from("library");
  return library.length > 0 ? library : frames;
}

/** The frame of a stack to show first: the innermost of the user's own, else of a library. */
export function bestFrame(program: Program, stack: Frame[]): Frame | undefined {
  return ownFrames(program, stack).at(-1);
}

/** The line that a selection is best looked at in. */
export function lineOf(
  program: Program,
  selection: Selection,
  lit: ReadonlySet<NodeId>,
): { file: number; line: number } | undefined {
  if (selection.kind === "line") return selection;
  for (const node of lit) {
    const frame = bestFrame(program, program.stack(node));
    if (frame) return frame;
  }
  return undefined;
}

/** The files in which ops were written, those of most ops first, each with the lines. */
export function writtenFiles(program: Program): [file: number, lines: number[]][] {
  const lines = new Map<number, number[]>();
  const frames: (Frame | undefined)[] = []; // by stack, of which many ops share one
  for (const id of program.allNodes()) {
    if (program.isHousekeeping(id)) continue;
    const stack = program.stackIndex(id);
    if (stack < 0) continue;
    if (!(stack in frames)) frames[stack] = bestFrame(program, program.stackAt(stack));
    const frame = frames[stack];
    if (frame) note(lines, frame);
  }
  return [...lines].toSorted(([, a], [, b]) => b.length - a.length);
}

function note(lines: Map<number, number[]>, { file, line }: Frame): void {
  const found = lines.get(file);
  if (found) found.push(line);
  else lines.set(file, [line]);
}
