/** Numbers and names as a reader sees them. Pure. */

import type { Symbol as ShapeSymbol } from "./record.gen";

/** torch writes "no bound" as a number about as large as an index can be. */
export const UNBOUNDED = 2 ** 62;

/** `[2, 512]`, `[2, ∞)`. */
export function rangeText(symbol: Pick<ShapeSymbol, "lower" | "upper">): string {
  const { lower, upper } = symbol;
  const low = lower === null || lower <= -UNBOUNDED ? "(−∞" : `[${lower}`;
  const high = upper === null || upper >= UNBOUNDED ? "∞)" : `${upper}]`;
  return `${low}, ${high}`;
}

/** `1.5 MB`, in powers of 1000. */
export function bytesText(bytes: number): string {
  const units = ["B", "kB", "MB", "GB", "TB", "PB"];
  let value = bytes;
  let unit = 0;
  while (value >= 1000 && unit < units.length - 1) {
    value /= 1000;
    unit += 1;
  }
  return `${unit === 0 || value >= 100 ? Math.round(value) : value.toFixed(1)} ${units[unit]}`;
}

/** `1.5 M`: a count with a decimal prefix. */
export function countText(count: number): string {
  const units = ["", " k", " M", " G", " T", " P", " E"];
  let value = count;
  let unit = 0;
  while (Math.abs(value) >= 999.5 && unit < units.length - 1) {
    value /= 1000;
    unit += 1;
  }
  return `${Number(value.toPrecision(3))}${units[unit]}`;
}

/** `90 ns`, `812 µs`, `12.3 ms`, `4.1 s`. */
export function durationText(seconds: number): string {
  if (seconds >= 0.9995) return `${Number(seconds.toPrecision(3))} s`;
  if (seconds >= 0.9995e-3) return `${Number((seconds * 1e3).toPrecision(3))} ms`;
  if (seconds >= 0.9995e-6) return `${Number((seconds * 1e6).toPrecision(3))} µs`;
  return `${Number((seconds * 1e9).toPrecision(3))} ns`;
}

/** `4 %`, and `< 1 %` for what is there at all. */
export function shareText(share: number): string {
  return share > 0 && share < 0.01 ? "< 1 %" : `${Math.round(100 * share)} %`;
}

/** `1,187`. By hand: the browser's own formatter takes 20 ms to start. */
export function grouped(count: number): string {
  return String(count).replace(/\B(?=(\d{3})+$)/g, ",");
}

/** `1 op`, `2 ops`, `1,187 ops`; `2 matches` where the plural is given. */
export function counted(count: number, noun: string, plural = `${noun}s`): string {
  return `${grouped(count)} ${count === 1 ? noun : plural}`;
}

/** An error as a sentence that can be shown. */
export function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Why a request failed; for a defect of ours, with the report to send. */
export class Refused extends Error {
  readonly report: string;

  constructor(reason: string, report = "") {
    super(reason);
    this.report = report;
  }
}

/** A text short enough for a tooltip. */
export function capped(text: string, most = 400): string {
  return text.length <= most ? text : `${text.slice(0, most)}…`;
}

/** The part of a module's path that tells it from others: `layers.3` of `model.layers.3.mlp`. */
export function shortPath(path: string): string {
  const numbered = /(?:^|.*\.)([^.]+\.\d+)(?:\.|$)/.exec(path);
  return numbered?.[1] ?? path.split(".").at(-1) ?? path;
}

/** `user_input` as `user input`. */
export function words(kind: string): string {
  return kind.replaceAll("_", " ");
}

/** `0`, `1.25`, `3.4e-7`: three digits, as short as they go. */
export function numberText(value: number): string {
  if (value === 0 || !Number.isFinite(value)) return String(value);
  const size = Math.abs(value);
  return size >= 1e5 || size < 1e-3 ? value.toExponential(1) : String(Number(value.toPrecision(3)));
}
