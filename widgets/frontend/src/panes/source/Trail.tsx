/** Next to a file's name: the calls that lead to the selection, each a link. */

import { capped } from "../../format";
import type { Frame, Program } from "../../program";
import type { Store } from "../../store";
import { callersOf } from "../../user_frames";

interface TrailProps {
  store: Store;
  program: Program;
  /** The file that is shown. */
  file: number;
}

const FEW = 6;

export function Trail({ store, program, file }: TrailProps) {
  const selection = store.selection.value;
  if (selection.kind === "line") {
    const callers = callersOf(program, selection.file, selection.line);
    if (callers.length === 0) return null;
    return (
      <nav class="tx-trail" aria-label="Callers">
        <span class="tx-lead">called from</span>
        {callers.slice(0, FEW).map(({ frame }, index) => (
          <Step key={index} store={store} program={program} frame={frame} file={file} />
        ))}
        {callers.length > FEW && <span class="tx-lead">and {callers.length - FEW} more</span>}
      </nav>
    );
  }
  const { nodes } = store.lit.value;
  const [only] = nodes;
  if (nodes.size !== 1 || only === undefined) return null;
  return (
    <nav class="tx-trail tx-trail-calls" aria-label="Calls">
      {program.stack(only).map((frame, index) => (
        <span key={index}>
          {index > 0 && <span class="tx-lead">›</span>}
          <Step store={store} program={program} frame={frame} file={file} />
        </span>
      ))}
    </nav>
  );
}

/** A frame of the shown file is named by its line alone. */
function Step({ store, program, frame, file }: TrailProps & { frame: Frame }) {
  const entry = program.record.files[frame.file];
  const name = entry?.name ?? "?";
  const short = name.split("/").at(-1) ?? name;
  return (
    <button
      type="button"
      class="tx-link"
      title={capped(`${name}:${frame.line} in ${frame.function}`)}
      onClick={() => store.goTo(frame.file, frame.line)}
    >
      {frame.file === file ? `:${frame.line}` : capped(`${short}:${frame.line}`, 60)}
    </button>
  );
}
