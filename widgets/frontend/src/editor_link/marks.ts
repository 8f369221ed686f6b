/** Underlined ranges in an editor: the failure and the findings of a program. Pure. */

import type { Program } from "../program";
import type { FixCard } from "../record.gen";
import { bestFrame } from "../user_frames";

export interface Mark {
  file: number;
  /** 1-based, as the kernel counts. */
  line: number;
  /** Columns of the part that it is about; null for the whole line. */
  columns: readonly [from: number, to: number] | null;
  severity: "error" | "warning" | "info";
  title: string;
  sentence: string;
  /** The title and the number of the first fix that is an edit. */
  fix: { title: string; number: number } | null;
}

const SEVERITIES = { wrong: "error", surprising: "warning", note: "info" } as const;

/** The marks of a program, those of lines of the user's only. */
export function marksOf(program: Program): Mark[] {
  const { failure, findings } = program.record;
  const found: Mark[] = [];
  const put = (stack: number, mark: Omit<Mark, "file" | "line" | "columns">, span: number[]) => {
    const frames = program.stackAt(stack);
    const frame = bestFrame(program, frames);
    const origin = frame && program.record.files[frame.file]?.origin;
    if (!frame || (origin !== "cell" && origin !== "user")) return;
    const { file, line } = frame;
    found.push({
      ...mark,
      file,
      line,
      columns: frame === frames.at(-1) ? columnsOn(line, span) : null,
    });
  };
  if (failure) {
    const number = failure.fixes.findIndex(isEdit);
    const fix = failure.fixes[number];
    put(
      failure.stack,
      {
        severity: "error",
        title: failure.kind,
        sentence: failure.sentence,
        fix: fix ? { title: fix.title, number } : null,
      },
      failure.span,
    );
  }
  for (const { severity, heading, sentence, stack, fix: number, card } of findings) {
    const fix = card && isEdit(card) ? { title: card.title, number } : null;
    put(stack, { severity: SEVERITIES[severity], title: heading, sentence, fix }, []);
  }
  return found;
}

const isEdit = ({ kind }: FixCard): boolean => kind === "code" || kind === "shapes";

/** The columns of a line that a span covers: line, column, end line and end column. */
function columnsOn(
  line: number,
  [start, from, end, to]: number[],
): readonly [number, number] | null {
  if (start !== line || from === undefined || to === undefined) return null;
  return [from, end === line ? to : Number.POSITIVE_INFINITY];
}
