/** Runs in groups, against each other and in words. Pure. */

import { bytesText, durationText } from "../format";
import { ensure } from "../maps";
import type { RunRow, RunTimes } from "../record.gen";

/** Backends that have nothing to compile: they start at once. */
export const QUICK: readonly string[] = ["eager", "program"];

/** Runs on one device with the same inputs, in the order they were first made. */
export function groupsOf(rows: readonly RunRow[]): [string, RunRow[]][] {
  const groups = new Map<string, RunRow[]>();
  for (const row of rows) {
    ensure(groups, `${row.device}, ${row.inputs}`, (): RunRow[] => []).push(row);
  }
  return [...groups];
}

/** What others are held against: eager's time, else the program's. */
export function baseOf(rows: readonly RunRow[]): number | null {
  const timed = (name: string) => rows.find((row) => row.backend === name && row.times);
  return (timed("eager") ?? timed("program"))?.times?.median ?? null;
}

/** `± 34 µs, first call 13 ms, compiled in 3.3 s, takes 20 kB, 1.6 MB on disk`. */
export function detailsOf(row: RunRow, times: RunTimes): string {
  const { memory, size } = row;
  const compiles = !QUICK.includes(row.backend);
  return [
    `± ${durationText(times.spread)}`,
    `first call ${durationText(times.first)}`,
    compiles && `compiled in ${durationText(times.prepare)}`,
    memory >= 0 && `takes ${bytesText(memory)}`,
    size >= 0 && `${bytesText(size)} on disk`,
  ]
    .filter(Boolean)
    .join(", ");
}
