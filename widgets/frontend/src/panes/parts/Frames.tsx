/** A call stack as links into Source. */

import { useState } from "preact/hooks";
import { capped, counted } from "../../format";
import type { Frame, Program } from "../../program";
import type { Store } from "../../store";
import { ownFrames } from "../../user_frames";
import { GoToSource } from "./GoToSource";
import { FrameLink } from "./LineLink";

interface FramesProps {
  store: Store;
  program: Program;
  /** The outermost call first. */
  frames: Frame[];
}

/** The innermost call first. Frames of libraries and torch are folded if there are the user's own. */
export function Frames({ store, program, frames }: FramesProps) {
  const [all, setAll] = useState(false);
  if (frames.length === 0) return <span class="tx-lead">not recorded</span>;
  const own = ownFrames(program, frames);
  const shown = (all ? frames : own).toReversed();
  const rest = frames.length - own.length;
  return (
    <ol class="tx-frames">
      {shown.map((frame, index) => (
        <FrameLine key={index} store={store} program={program} frame={frame} />
      ))}
      {rest > 0 && (
        <li>
          <button type="button" class="tx-more" aria-expanded={all} onClick={() => setAll(!all)}>
            {all ? "fewer" : `${counted(rest, "frame")} of libraries`}
          </button>
        </li>
      )}
    </ol>
  );
}

function FrameLine({ store, program, frame }: { store: Store; program: Program; frame: Frame }) {
  const file = program.record.files[frame.file];
  const muted = file?.origin === "torch" || file?.origin === "library";
  return (
    <li class={muted ? "tx-muted-frame" : ""}>
      <FrameLink store={store} program={program} frame={frame} short />
      <GoToSource store={store} program={program} place={frame} />
      <span class="tx-lead tx-clip">{capped(frame.function, 80)}</span>
    </li>
  );
}
