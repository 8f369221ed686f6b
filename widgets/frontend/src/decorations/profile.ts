/** The time of ops, as the profile measured it. */

import { bytesText, durationText, shareText } from "../format";
import { type NodeId, nodeId, type Program } from "../program";
import type { Decoration, Mark, Measure } from "./decoration";
import { heat } from "./heat";

export function time({ record: { profile } }: Program): Decoration | null {
  if (!profile) return null;
  const text = (microseconds: number): string => {
    const share = shareText(microseconds / Math.max(profile.total, 1e-9));
    return `${durationText(microseconds / 1e6)}, ${share} of the time`;
  };
  return measured("time", "Time", profile.microseconds, text);
}

export function memory({ record: { profile } }: Program): Decoration | null {
  if (!profile) return null;
  return measured("memory", "Memory", profile.bytes, (bytes) => `outputs ${bytesText(bytes)}`);
}

/** @param amounts per node of the main graph; negative for what was not measured */
function measured(
  name: string,
  title: string,
  amounts: readonly number[],
  text: Measure["text"],
): Decoration {
  const marks = new Map<NodeId, Mark>();
  amounts.forEach((amount, index) => {
    if (amount >= 0) marks.set(nodeId(0, index), { amount });
  });
  return heat(name, title, marks, text);
}
