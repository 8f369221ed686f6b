/** Whether a program takes sizes, as `export_engine/record/size_probe.py` says it. Pure. */

import { UNBOUNDED } from "./format";
import { evaluate, type Formula } from "./formula";
import type { Probe, Record, Rule, Symbol as ShapeSymbol } from "./record.gen";

export interface ProbeResult {
  /** `unchecked`: let through, but outside of the contract. */
  verdict: "accepted" | "refused" | "unchecked";
  /** The rules that are broken, those that refuse first. */
  broken: Rule[];
  /** Rules that cannot be evaluated here. */
  unknown: Rule[];
  /** Per output size, its value; null if it depends on values. */
  outputs: (number | null)[];
}

/** Tries sizes, one for each of the probe's inputs. */
export function probeSizes(probe: Probe, sizes: readonly number[]): ProbeResult {
  const broken = probe.rules.filter(({ formula }) => formula.length > 0 && !holds(formula, sizes));
  const refusing = broken.filter((rule) => rule.enforced);
  const passing = broken.filter((rule) => !rule.enforced);
  return {
    verdict: refusing.length > 0 ? "refused" : passing.length > 0 ? "unchecked" : "accepted",
    broken: [...refusing, ...passing],
    unknown: probe.rules.filter(({ formula }) => formula.length === 0),
    outputs: probe.outputs.map(({ formula }) => sizeOf(formula, sizes)),
  };
}

/** The sizes of the example. */
export function exampleSizes(probe: Probe): number[] {
  return probe.inputs.map((input) => input.example);
}

/** Sizes with every place of a symbol moved to what the symbol's value makes it. */
export function withSymbol(
  probe: Probe,
  sizes: readonly number[],
  symbol: number,
  value: number,
): number[] {
  return probe.inputs.map((input, number) =>
    input.symbol === symbol ? input.scale * value + input.offset : (sizes[number] ?? input.example),
  );
}

/** The value of a symbol from the first place linear in it; null if there is none. */
export function symbolValue(probe: Probe, sizes: readonly number[], symbol: number): number | null {
  const number = probe.inputs.findIndex((input) => input.symbol === symbol);
  const input = probe.inputs[number];
  if (!input) return null;
  return Math.floor(((sizes[number] ?? input.example) - input.offset) / input.scale);
}

/** Sizes by the symbols' names, as the Record has them: `batch = 3, seq = 7`; empty if no symbols
 *  make them. */
export function shownSizes({ probe, symbols }: Record, sizes: readonly number[]): string {
  const named = new Map<number, number>();
  for (const { symbol } of probe.inputs) {
    const value = symbol < 0 ? null : symbolValue(probe, sizes, symbol);
    if (value !== null) named.set(symbol, value);
  }
  const made = [...named].reduce(
    (all, [at, size]) => withSymbol(probe, all, at, size),
    exampleSizes(probe),
  );
  if (made.some((size, at) => size !== sizes[at])) return "";
  return [...named].map(([at, size]) => `${symbols[at]?.name} = ${size}`).join(", ");
}

/** How far a slider goes at least beyond what is allowed, so that both edges can be crossed. */
const BEYOND = 3;
/** The end of a slider if nothing bounds a size whose example is small. */
const OPEN = 32;

/** The ends of a symbol's slider: a little outside its range, and never below 0. */
export function sliderRange(
  symbol: Pick<ShapeSymbol, "lower" | "upper" | "example">,
  value: number,
  farthest = OPEN,
): { least: number; most: number } {
  const low = Math.max(0, symbol.lower ?? 0);
  const bounded = symbol.upper !== null && symbol.upper < UNBOUNDED;
  const high = bounded ? Number(symbol.upper) : Math.max(4 * (symbol.example ?? 0), low, farthest);
  const beyond = Math.max(BEYOND, Math.round((high - low) / 20));
  return {
    least: Math.min(value, Math.max(0, low - beyond)),
    most: Math.max(value, high + beyond),
  };
}

function holds(formula: Formula, sizes: readonly number[]): boolean {
  try {
    return Boolean(evaluate(formula, sizes));
  } catch {
    return false; // the program's own check fails then, too
  }
}

function sizeOf(formula: Formula, sizes: readonly number[]): number | null {
  if (formula.length === 0) return null;
  try {
    const size = Math.trunc(Number(evaluate(formula, sizes)));
    return Number.isFinite(size) ? size : null;
  } catch {
    return null;
  }
}
