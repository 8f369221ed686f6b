/** Which cell of a notebook a Record's source is. Its text decides: a wrong line is never shown. Pure. */

import { isSameText } from "./lines_as_run";
import type { Source } from "./link";

export interface Cell {
  text: string;
  /** As in `In [3]`; null if it has not run, or is running. */
  count: number | null;
}

export type Found =
  | { kind: "same"; index: number }
  /** The cell was edited since; it is not known which line is which. */
  | { kind: "edited"; index: number }
  | { kind: "gone" };

/** The execution count in `Cell In[3]`; null where a name has none. */
export function countOf({ name }: Source): number | null {
  const found = /^Cell In\[(\d+)\]/.exec(name);
  return found ? Number(found[1]) : null;
}

/**
 * Finds a cell by the text that was exported; of several with that text, the one with its count.
 *
 * @param cells of the notebook, in order
 * @param source how the Record names it
 * @param text what was exported
 */
export function cellOf(cells: readonly Cell[], source: Source, text: string): Found {
  const count = countOf(source);
  const counted = cells.findIndex((cell) => count !== null && cell.count === count);
  const same = cells.flatMap((cell, index) => (isSameText(cell.text, text) ? [index] : []));
  if (same.includes(counted)) return { kind: "same", index: counted };
  if (same[0] !== undefined) return { kind: "same", index: same[0] };
  return counted >= 0 ? { kind: "edited", index: counted } : { kind: "gone" };
}

/** Python's name of what a fix changed: `… (fixed 0a1b2c3d)`. Such a text is in no file yet. */
const FIXED = / \(fixed [0-9a-f]{8}\)$/;

export const isFixed = ({ path }: Source): boolean => FIXED.test(path);
export const unfixed = ({ path }: Source): string => path.replace(FIXED, "");

/** Why a line is not shown: a sentence. */
export function whyNot(source: Source, found: "edited" | "gone"): string {
  const name = source.name || source.path;
  if (isFixed(source)) {
    return `${name} is code of a fix that is not in your file: write the fix into your code first.`;
  }
  return found === "edited"
    ? `${name} was edited since the export, so its lines may have moved. Run it and export again.`
    : `No cell contains the exported code of ${name}: it was edited or deleted. Export again.`;
}
