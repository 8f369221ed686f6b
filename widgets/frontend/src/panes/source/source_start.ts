/** Where Source begins before anything is selected: the file and the line most worth a look. Pure. */

import type { Frame, Program } from "../../program";
import { bestFrame } from "../../user_frames";

export interface Start {
  file: number;
  /** 1-based. */
  line: number;
}

/**
 * The failing line of a failure; else the file in which most ops were written, not one that only
 * passed them on, at its first line that made one. Undefined where no op knows its line.
 */
export function startOf(program: Program): Start | undefined {
  const { failure } = program.record;
  const failing = failure && bestFrame(program, program.stackAt(failure.stack));
  if (failing) return failing;
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
  const files = [...lines].toSorted(([, a], [, b]) => b.length - a.length);
  const own = files.find(([file]) => ["cell", "user"].includes(originOf(program, file)));
  const [file, found] = own ?? files[0] ?? [];
  return file === undefined || !found ? undefined : { file, line: Math.min(...found) };
}

/** The first line of a file that made an op; 1 where none did. */
export function firstLineOf(program: Program, file: number): number {
  return program.source.firstLineOf(file) || 1;
}

function note(lines: Map<number, number[]>, { file, line }: Frame): void {
  const found = lines.get(file);
  if (found) found.push(line);
  else lines.set(file, [line]);
}

const originOf = (program: Program, file: number): string =>
  program.record.files[file]?.origin ?? "";
