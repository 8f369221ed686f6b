/** Where Source begins before anything is selected: the file and the line most worth a look. Pure. */

import type { Program } from "../../program";
import { bestFrame, writtenFiles } from "../../user_frames";

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
  const files = writtenFiles(program);
  const own = files.find(([file]) => ["cell", "user"].includes(originOf(program, file)));
  const [file, found] = own ?? files[0] ?? [];
  return file === undefined || !found ? undefined : { file, line: Math.min(...found) };
}

/** The first line of a file that made an op; 1 where none did. */
export function firstLineOf(program: Program, file: number): number {
  return program.source.firstLineOf(file) || 1;
}

const originOf = (program: Program, file: number): string =>
  program.record.files[file]?.origin ?? "";
