/** Which guards to show. Pure. */

import type { Program } from "../../program";
import type { Guard } from "../../record.gen";
import { bestFrame } from "../../user_frames";

export interface GuardFilter {
  /** Part of the condition, of the file's name or of the op that checked it. */
  text: string;
  /** `input 3`, `symbol 0`, `file 1`, or nothing. */
  about: string;
  /** Whether those implied by others are also shown. */
  implied: boolean;
}

export const EVERY_GUARD: GuardFilter = { text: "", about: "", implied: false };

/** The guards to show, with their numbers. */
export function chosenGuards(program: Program, filter: GuardFilter): [number, Guard][] {
  return [...program.record.guards.entries()].filter(
    ([, guard]) =>
      (filter.implied || guard.effect !== "implied") &&
      isAbout(program, guard, filter.about) &&
      hasText(program, guard, filter.text.trim().toLowerCase()),
  );
}

/** Subjects of the guards, each once and in order: inputs, and files that check them. */
export function guardTopics(program: Program): { inputs: number[]; files: number[] } {
  const { guards } = program.record;
  const files = guards.map((guard) => fileOf(program, guard)).filter((file) => file >= 0);
  const inOrder = (numbers: number[]) => [...new Set(numbers)].sort((a, b) => a - b);
  return { inputs: inOrder(guards.flatMap((guard) => guard.inputs)), files: inOrder(files) };
}

/** The file of the line with the check; -1 if it is not known. */
function fileOf(program: Program, guard: Guard): number {
  return bestFrame(program, program.stackAt(guard.stack))?.file ?? -1;
}

function isAbout(program: Program, guard: Guard, about: string): boolean {
  const [kind, number] = about.split(" ");
  if (kind === "file") return fileOf(program, guard) === Number(number);
  if (kind === "input") return guard.inputs.includes(Number(number));
  if (kind === "symbol") return guard.symbols.includes(Number(number));
  return true;
}

function hasText(program: Program, guard: Guard, text: string): boolean {
  if (!text) return true;
  const frame = bestFrame(program, program.stackAt(guard.stack));
  const name = program.record.files[frame?.file ?? -1]?.name ?? "";
  const place = frame ? `${name}:${frame.line}` : "";
  return [guard.text, guard.result, guard.asked_by, place].some((each) =>
    each.toLowerCase().includes(text),
  );
}
