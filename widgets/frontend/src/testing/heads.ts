/** Verdicts for tests, as the kernel would send them with an attempt. */

import type { AttemptHead, Release, ReleaseItem } from "../messages.gen";

/** A claim that holds, and says nothing more than what is given. */
export function claim(name: string, known: Partial<ReleaseItem> = {}): ReleaseItem {
  const empty = { sentence: "", command: "", words: "", count: "", tried: "" };
  return { name, state: "good", ...empty, ...known };
}

export function judged(sign: Release["sign"], ...items: ReleaseItem[]): Release {
  return { verdict: sign === "bad" ? "not ready" : "open", sentence: "", items, sign, doubted: [] };
}

/** An attempt that exported, with its verdict. */
export function headOf(release: Release | null, known: Partial<AttemptHead> = {}): AttemptHead {
  return {
    label: "",
    outcome: "exported",
    verdict: "",
    parent: -1,
    step: "",
    revision: 0,
    untrusted: false,
    release,
    name: "ex",
    ...known,
  };
}
