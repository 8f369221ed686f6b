/** The verdict on a program, tab by tab: a count, a colour and a few words each. Judges nothing. */

import type { Comparison } from "./compare/comparison";
import { othersOf } from "./compare/entries";
import { counted } from "./format";
import type { Release } from "./messages.gen";
import type { Record } from "./record.gen";
import type { Tab } from "./view_state";

/** From bad to good; `plain` judges nothing, and `open` was not looked at. */
export type Tone = "bad" | "warn" | "good" | "plain" | "open";

export interface TabStatus {
  tone: Tone;
  /** Beside the name of the tab: a number or a sign. */
  count: string;
  /** In the header; in full for who points at the tab. */
  words: string;
}

/** The facts about the attempt on screen. */
export interface Known {
  record: Record;
  release: Release | null;
}

/** The claims of the verdict by tab. */
const CLAIMS: { [tab in Tab]?: string } = {
  findings: "findings",
  guarantees: "verification",
  runs: "runs",
};
const TONES = { good: "good", open: "warn", bad: "bad", none: "plain" } as const;

/** The mark next to a tab's name, from the verdict; null for none. */
export function tabStatus(
  tab: Tab,
  { record, release }: Known,
  comparison: Pick<Comparison, "entries" | "diff"> | null,
): TabStatus | null {
  if (tab === "differences") {
    if (!comparison) return null;
    const { entries, diff } = comparison;
    if (diff.identical) return { tone: "good", count: "0", words: "No differences" };
    const count = entries.length + othersOf(diff).length;
    return { tone: "warn", count: `${count}`, words: counted(count, "difference") };
  }
  const claim = release?.items.find(({ name }) => name === CLAIMS[tab]);
  if (claim?.words) {
    const notes = claim.name === "findings" && claim.state === "good";
    return { tone: notes ? "plain" : TONES[claim.state], count: claim.count, words: claim.words };
  }
  const profiled = tab === "runs" && record.profile;
  return profiled ? { tone: "plain", count: "✓", words: "profiled" } : null;
}

/** The panes that answer the questions of a release. */
export const RELEASE_PANES: { readonly [name: string]: Tab } = {
  findings: "findings",
  verification: "guarantees",
  sizes: "shapes",
  runs: "runs",
  values: "values",
};

/** Marks a tab with a remaining check for a release, until one of them was requested. */
export function openStatus(tab: Tab, { record, release }: Known): TabStatus | null {
  if (!release || wasAsked(record)) return null;
  const item = release.items.find(({ name }) => RELEASE_PANES[name] === tab);
  return item?.state === "open" ? { tone: "open", count: "•", words: item.sentence } : null;
}

/** Whether more than an export was requested. */
export const wasAsked = ({ delegations, profile, runs, stages, verification }: Record): boolean =>
  verification !== null ||
  profile !== null ||
  [delegations, runs, stages].some((each) => each.length > 0);

/** The header's sign: the worst of what was looked at. */
export function signOf({ record, release }: Known): Tone | "failed" {
  if (record.outcome === "failed") return "failed";
  return TONES[release?.sign ?? "good"];
}

/** The pane with the requested result: it opens first. */
export function firstTab(record: Record): Tab {
  if (record.verification?.verdict === "broken") return "guarantees";
  if (record.stages.length > 0) return "stages";
  if (record.delegations.length > 0) return "delegate";
  if (record.runs.length > 0 || record.profile) return "runs";
  return record.verification ? "guarantees" : "inspector";
}
