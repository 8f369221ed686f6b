/** Runs in groups, against each other and in words. Pure. */

import { bytesText, durationText } from "../../format";
import { ensure } from "../../maps";
import type { Record, RunRow, RunTimes } from "../../record.gen";

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

/** Each table of runs and the profile, as texts that change with them. */
export function resultsOf({ profile, runs }: Record): Map<string, string> {
  const results = groupsOf(runs).map(([title, rows]) => [title, JSON.stringify(rows)] as const);
  if (!profile) return new Map(results);
  return new Map([...results, ["profile", profile.microseconds.join()]]);
}

/** The column of speeds: against eager, or the exported program where eager did not run. */
export function besideOf(rows: readonly RunRow[]): string {
  const timed = (name: string) => rows.some((row) => row.backend === name && row.times);
  return !timed("eager") && timed("program") ? "vs program" : "vs eager";
}

/** The reference of other times: eager's, else the program's. */
export function baseOf(rows: readonly RunRow[]): RunTimes | null {
  const timed = (name: string) => rows.find((row) => row.backend === name && row.times);
  return (timed("eager") ?? timed("program"))?.times ?? null;
}

/** `1.4× slower`, `2.1× faster`, `same` within 5 %, or no more apart than calls vary: against eager. */
export function speedOf(times: RunTimes, base: RunTimes): string {
  const ratio = times.median / base.median;
  if (Math.abs(ratio - 1) < 0.05) return "same";
  if (Math.abs(times.median - base.median) < Math.max(times.spread, base.spread)) {
    return "within noise";
  }
  const factor = Number((ratio > 1 ? ratio : 1 / ratio).toPrecision(3));
  return `${factor}× ${ratio > 1 ? "slower" : "faster"}`;
}

/** The largest interquartile range of a quiet measurement, as a share of the median. */
const NOISY = 0.3;

/** Bytes below which a CPU's pages say nothing about a call: the allocator may keep as many. */
const LITTLE = 1_000_000;

const memoryText = ({ device, memory }: RunRow): string =>
  device === "cpu" && memory < LITTLE ? `under ${LITTLE / 1e6} MB` : bytesText(memory);

/** `± 34 µs, first call 13 ms, compiled in 3.3 s, takes 20 MB, 1.6 MB on disk`. */
export function detailsOf(row: RunRow, times: RunTimes): string {
  const { memory, size } = row;
  const compiles = !QUICK.includes(row.backend);
  return [
    `± ${durationText(times.spread)}${times.spread > NOISY * times.median ? " (noisy: time it on a quiet machine)" : ""}`,
    `first call ${durationText(times.first)}`,
    compiles && `compiled in ${durationText(times.prepare)}`,
    memory >= 0 && `takes ${memoryText(row)}`,
    size >= 0 && `${bytesText(size)} on disk`,
  ]
    .filter(Boolean)
    .join(", ");
}
