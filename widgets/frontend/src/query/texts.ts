/** How a text of a query is found in a text of a Record; the twin of `query/texts.py`. */

import type { Match } from "./fields.gen";

/** A pattern that finds a word anywhere; a number at its end must match whole. */
export function contains(word: string): RegExp {
  const before = /^\d/.test(word) ? "(?<!\\d)" : "";
  const after = /\d$/.test(word) ? "(?!\\d)" : "";
  return new RegExp(before + glob(word, "[^,\\]\\n]*") + after, "i");
}

const whole = (word: string): RegExp => new RegExp(`^${glob(word, ".*")}$`, "i");

const parts = (word: string): RegExp => new RegExp(`(?:^|\\.)${glob(word, "[^.]*")}(?:\\.|$)`, "i");

/** The pattern for a text of a Record; the whole text if exact. */
export function pattern(match: Match, text: string, exact: boolean): RegExp {
  if (exact) return whole(text);
  return match === "contains" ? contains(text) : match === "parts" ? parts(text) : whole(text);
}

/**
 * Whether sizes match `[batch, *, 64]`; without brackets, whether one of them does. `*` is one size,
 * `...` are any number of them.
 */
export function sizesMatch(text: string): (sizes: readonly string[]) => boolean {
  if (!text.startsWith("[")) {
    const one = whole(text);
    return (sizes) => sizes.some((each) => one.test(each));
  }
  const wanted = text.replace(/^\[+|\]+$/g, "").split(",");
  const patterns = wanted
    .map((each) => each.trim())
    .filter(Boolean)
    .map((each) => (each === "..." ? null : whole(each)));
  return (sizes) => fits(patterns, sizes);
}

function fits(patterns: readonly (RegExp | null)[], sizes: readonly string[]): boolean {
  const [first, ...rest] = patterns;
  if (first === undefined) return sizes.length === 0;
  if (first === null) return sizes.some((_, at) => fits(rest, sizes.slice(at))) || fits(rest, []);
  return sizes.length > 0 && first.test(sizes[0] ?? "") && fits(rest, sizes.slice(1));
}

function glob(word: string, star: string): string {
  return word.replace(/[.+?^${}()|[\]\\]/g, "\\$&").replaceAll("*", star);
}
