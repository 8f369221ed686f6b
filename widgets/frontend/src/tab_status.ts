/** The status of a program, tab by tab: a count, a colour and a few words each. Pure. */

import type { Comparison } from "./compare/comparison";
import { counted } from "./format";
import type { Record, RunRow } from "./record.gen";
import type { Tab } from "./view_state";

/** From bad to good; `plain` judges nothing. */
export type Tone = "bad" | "warn" | "good" | "plain";

export interface TabStatus {
  tone: Tone;
  /** Beside the name of the tab: a number or a sign. */
  count: string;
  /** In the header; in full for who points at the tab. */
  words: string;
}

/** What a tab's name has beside it; null for nothing. */
export function tabStatus(
  tab: Tab,
  record: Record,
  comparison: Pick<Comparison, "entries"> | null,
): TabStatus | null {
  switch (tab) {
    case "findings":
      return ofFindings(record);
    case "guarantees":
      return ofVerification(record);
    case "runs":
      return ofRuns(record);
    case "differences": {
      const count = comparison?.entries.length ?? 0;
      const words = count === 0 ? "Nothing differs" : counted(count, "difference");
      return comparison && { tone: count > 0 ? "warn" : "good", count: `${count}`, words };
    }
    default:
      return null;
  }
}

/** The worst that is known, and so what the header's sign is. */
export function worstOf(record: Record): Tone {
  if (record.outcome === "failed") return "bad";
  const tones = (["findings", "guarantees", "runs"] as const).map(
    (tab) => tabStatus(tab, record, null)?.tone,
  );
  if (tones.includes("bad")) return "bad";
  return tones.includes("warn") ? "warn" : "good";
}

/** The pane that what was asked for stands in: it opens first. */
export function firstTab(record: Record): Tab {
  if (record.verification?.verdict === "broken") return "guarantees";
  if (record.runs.length > 0 || record.profile) return "runs";
  return record.verification ? "guarantees" : "inspector";
}

function ofFindings({ findings }: Record): TabStatus | null {
  const real = findings.filter(({ severity }) => severity !== "note");
  const wrong = real.filter(({ severity }) => severity === "wrong").length;
  if (findings.length === 0) return null;
  if (real.length === 0) {
    const count = `${findings.length}`;
    return { tone: "plain", count, words: counted(findings.length, "note") };
  }
  const words = counted(real.length, "finding") + (wrong > 0 ? `, ${wrong} wrong` : "");
  return { tone: "warn", count: `${real.length}`, words };
}

function ofVerification({ verification }: Record): TabStatus | null {
  if (!verification) return null;
  const count = (verdict: string): number =>
    verification.rows.filter((row) => row.verdict === verdict).length;
  const [broken, unchecked] = [count("broken"), count("not checked")];
  switch (verification.verdict) {
    case "holds":
      return { tone: "good", count: "✓", words: "verified" };
    case "broken":
      return { tone: "bad", count: `${broken}`, words: `${counted(broken, "guarantee")} broken` };
    case "not checked":
      return { tone: "warn", count: "?", words: `${counted(unchecked, "guarantee")} not checked` };
  }
}

/** The worst outcome of a run counts, and where it was. */
function ofRuns({ profile, runs }: Record): TabStatus | null {
  const of = (outcome: RunRow["outcome"]): RunRow[] =>
    runs.filter((row) => row.outcome === outcome);
  const on = (rows: readonly RunRow[]): string =>
    [...new Set(rows.map(({ device }) => device))].join(", ");
  const [differ, fail, lack] = [of("differs"), of("failed"), of("unavailable")];
  if (differ.length > 0) {
    return { tone: "bad", count: `${differ.length}`, words: `differs on ${on(differ)}` };
  }
  if (fail.length > 0)
    return { tone: "bad", count: `${fail.length}`, words: `failed on ${on(fail)}` };
  if (lack.length > 0) return { tone: "warn", count: "–", words: `did not run on ${on(lack)}` };
  if (runs.length > 0) return { tone: "good", count: "✓", words: `agrees on ${on(runs)}` };
  return profile && { tone: "plain", count: "✓", words: "profiled" };
}
