/** What a failed export shows first: the failing line, one sentence, and the rest on demand. */

import { capped } from "../format";
import type { Frame, Program } from "../program";
import type { Failure as FailureRecord } from "../record.gen";
import type { Store } from "../store";
import { CodeLine } from "./CodeLines";
import { Frames } from "./parts";
import { useAnswer } from "./useAnswer";

const AROUND = 4;

export function Failure({ store, program, failure }: Props) {
  const stack = program.stackAt(failure.stack);
  const origin = (frame: Frame): string | undefined => program.record.files[frame.file]?.origin;
  const own = stack.findLast((frame) => ["cell", "user"].includes(origin(frame) ?? ""));
  const frame = own ?? stack.at(-1);
  return (
    <section class="tx-failure" aria-label="Failure" data-testid="failure">
      <h2>This call does not export</h2>
      <p class="tx-failure-sentence">{failure.sentence}</p>
      {frame && <Excerpt store={store} program={program} frame={frame} />}
      {stack.length > 1 && (
        <details>
          <summary>Called from</summary>
          <Frames store={store} program={program} frames={stack} />
        </details>
      )}
      <details>
        <summary>What torch says ({failure.error})</summary>
        <pre class="tx-text">{capped(failure.message, 200_000)}</pre>
      </details>
      <details>
        <summary>The whole traceback</summary>
        <pre class="tx-text">{capped(failure.traceback, 400_000)}</pre>
      </details>
    </section>
  );
}

interface Props {
  store: Store;
  program: Program;
  failure: FailureRecord;
}

/** The failing line with a few around it. */
function Excerpt({ store, program, frame }: { store: Store; program: Program; frame: Frame }) {
  const answer = useAnswer(() => store.source(frame.file), [store, program, frame.file]);
  const file = program.record.files[frame.file];
  const place = `${file?.name ?? "?"}, line ${frame.line}, in ${frame.function}`;
  const first = Math.max(frame.line - 1 - AROUND, 0);
  return (
    <div class="tx-failure-code">
      <header title={capped(file?.path ?? "")}>{capped(place, 300)}</header>
      {answer.kind === "refused" && <p class="tx-empty">{answer.why}</p>}
      {answer.kind === "there" && (
        <div class="tx-code" style={{ overflow: "auto" }}>
          {answer.value.slice(first, frame.line + AROUND).map((line, offset) => (
            <CodeLine
              key={first + offset}
              line={line}
              number={first + offset + 1}
              marks={{ lit: false, ops: 0, failing: first + offset + 1 === frame.line }}
            />
          ))}
        </div>
      )}
    </div>
  );
}
