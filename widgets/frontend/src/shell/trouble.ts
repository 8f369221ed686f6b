/** Our own errors: a line for the console, and a report that the user can send. */

import { reasonOf } from "../format";
import type { Program } from "../program";

const MOST_LINES = 40;

export function logged(name: string, error: unknown): void {
  console.error(`export-explorer: ${name} cannot be shown: ${reasonOf(error)}`, error);
}

/** A report to copy: where, what, and by which versions. Nothing of the model's values is in it. */
export function reportOf(name: string, error: unknown, program: Program | null): string {
  const stack = error instanceof Error ? (error.stack ?? "") : "";
  return [
    `Export Explorer: an error in ${name}`,
    reasonOf(error),
    program ? `torch ${program.record.torch_version}` : "before there was a program",
    navigator.userAgent,
    ...stack.split("\n").slice(0, MOST_LINES),
  ].join("\n");
}
