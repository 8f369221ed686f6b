/** The line that costs most, above a ranking by something else. */

import { shareText } from "../../format";
import type { Total } from "../../profile";
import type { Program } from "../../program";
import type { Store } from "../../store";
import { LineLink } from "./LineLink";

interface Props {
  store: Store;
  program: Program;
  /** The totals by line, the dearest first. */
  lines: readonly Total[];
  /** The cost of the whole program. */
  whole: number;
}

export function DearestLine({ store, program, lines: [most], whole }: Props) {
  const node = most?.nodes[0];
  if (!most || node === undefined || whole <= 0) return null;
  return (
    <p data-testid="dearest-line">
      Most on one line:{" "}
      <LineLink store={store} program={program} stack={program.stackIndex(node)} />,{" "}
      {shareText(most.cost / whole)}
    </p>
  );
}
