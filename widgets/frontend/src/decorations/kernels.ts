/** The kernels of the last compilation: each op with the time of the slowest that it is in. */

import { durationText, shareText } from "../format";
import { type NodeId, nodeId, type Program } from "../program";
import type { Decoration, Mark } from "./decoration";
import { heat } from "./heat";

/** By which it is chosen. */
export const KERNELS = "kernels";

export function kernels({ record: { stages } }: Program): Decoration | null {
  const last = stages.at(-1);
  const whole = last?.times?.kernels ?? 0;
  if (!last || whole <= 0) return null;
  const marks = new Map<NodeId, Mark>();
  for (const { nodes, microseconds } of last.kernels) {
    for (const node of nodes) {
      const id = nodeId(0, node);
      const amount = Math.max(microseconds, marks.get(id)?.amount ?? 0);
      // a kernel's time is of all its ops together: it is neither split nor added up
      marks.set(id, { amount, most: true });
    }
  }
  const text = (amount: number): string =>
    `${durationText(amount / 1e6)} in its kernel, ${shareText(amount / whole)}`;
  return heat(KERNELS, "Kernel time", marks, text);
}
