/** A line of a call stack as a link to Source; the one that a stack is about. */

import { capped } from "../../format";
import type { Frame, Program } from "../../program";
import type { Store } from "../../store";
import { bestFrame } from "../../user_frames";
import { Dotted } from "./parts";

interface LineLinkProps {
  store: Store;
  program: Program;
  /** Into `record.stacks`; if it is -1, there is no line, and nothing is shown. */
  stack: number;
}

export function LineLink({ store, program, stack }: LineLinkProps) {
  const frame = bestFrame(program, program.stackAt(stack));
  return frame && <FrameLink store={store} program={program} frame={frame} />;
}

interface FrameLinkProps {
  store: Store;
  program: Program;
  frame: Frame;
  /** Whether the folders of a long path are left out; the tooltip has them. */
  short?: boolean;
}

export function FrameLink({ store, program, frame, short = false }: FrameLinkProps) {
  const file = program.record.files[frame.file];
  const name = file?.name ?? "?";
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
      <Dotted name={capped(`${short ? shortFile(name) : name}:${frame.line}`, 120)} />
    </button>
  );
}

const LONG = 28;

/** `transformers/models/qwen3/modeling_qwen3.py` as `…/modeling_qwen3.py`; a short one as it is. */
export function shortFile(path: string): string {
  return path.length > LONG ? `…/${path.split("/").at(-1)}` : path;
}
