/** The line that a stack ends at, as a link to Source. */

import { capped } from "../format";
import type { Program } from "../program";
import type { Store } from "../store";
import { bestFrame } from "./calls";

interface LineLinkProps {
  store: Store;
  program: Program;
  /** Into `record.stacks`; where it is -1 there is no line, and nothing is shown. */
  stack: number;
}

export function LineLink({ store, program, stack }: LineLinkProps) {
  const frame = bestFrame(program, program.stackAt(stack));
  if (!frame) return null;
  const file = program.record.files[frame.file];
  return (
    <button
      type="button"
      class="tx-link"
      title={capped(`Show in Source: ${file?.path ?? ""}`)}
      onClick={(event) => {
        event.stopPropagation();
        store.goTo(frame.file, frame.line);
      }}
    >
      {capped(`${file?.name ?? "?"}:${frame.line}`, 120)}
    </button>
  );
}
