/** A decoration that colours ops by an amount. */

import type { NodeId } from "../program";
import type { Decoration, Mark, Measure } from "./decoration";

export function heat(
  name: string,
  title: string,
  marks: ReadonlyMap<NodeId, Mark>,
  text: Measure["text"],
): Decoration {
  return {
    name,
    title,
    noun: "op",
    marks,
    legend: [],
    measure: { colour: "var(--tx-heat)", text },
  };
}
