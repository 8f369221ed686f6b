/** What a failed export shows first: one sentence, the failing line, and the rest on demand. */

import { capped } from "../format";
import type { Frame, Program } from "../program";
import type { Failure as FailureRecord } from "../record.gen";
import type { Store } from "../store";
import { PlainLine } from "./CodeLine";
import { CopyButton } from "./CopyButton";
import { bestFrame } from "./calls";
import { Frames } from "./Frames";
import { Empty, Waiting } from "./parts";
import { useAnswer } from "./useAnswer";

const AROUND = 4;
const LONGEST_MESSAGE = 200_000;
const LONGEST_TRACEBACK = 400_000;

interface FailureProps {
  store: Store;
  program: Program;
  failure: FailureRecord;
}

export function Failure({ store, program, failure }: FailureProps) {
  const stack = program.stackAt(failure.stack);
  const frame = bestFrame(program, stack);
  return (
    <section class="tx-failure" aria-label="Failure" data-testid="failure" data-pane>
      <p class="tx-failure-sentence">{capped(failure.sentence, 2000)}</p>
      {frame && <Excerpt store={store} program={program} frame={frame} />}
      {stack.length > 1 && (
        <details>
          <summary>How the call came there</summary>
          <Frames store={store} program={program} frames={stack} />
        </details>
      )}
      <Folded
        title={`What torch says (${failure.error})`}
        text={failure.message}
        most={LONGEST_MESSAGE}
      />
      <Folded title="The whole traceback" text={failure.traceback} most={LONGEST_TRACEBACK} />
    </section>
  );
}

function Folded({ title, text, most }: { title: string; text: string; most: number }) {
  if (!text) return null;
  return (
    <details>
      <summary>{capped(title, 200)}</summary>
      <div class="tx-copy-home">
        <CopyButton text={() => text} />
        <pre class="tx-text">{capped(text, most)}</pre>
      </div>
    </details>
  );
}

interface ExcerptProps {
  store: Store;
  program: Program;
  frame: Frame;
}

/** The failing line with a few around it. */
function Excerpt({ store, program, frame }: ExcerptProps) {
  const answer = useAnswer(() => store.source(frame.file), [store, program, frame.file]);
  const file = program.record.files[frame.file];
  const first = Math.max(frame.line - 1 - AROUND, 0);
  return (
    <figure class="tx-failure-code" aria-label="The failing line">
      <figcaption>
        <button
          type="button"
          class="tx-link"
          title={capped(file?.path ?? "")}
          onClick={() => store.goTo(frame.file, frame.line)}
        >
          {capped(`${file?.name ?? "?"}:${frame.line}`, 200)}
        </button>
        <span class="tx-lead">in {capped(frame.function, 120)}</span>
      </figcaption>
      {answer.kind === "waiting" && <Waiting what="the file" slow={answer.slow} />}
      {answer.kind === "refused" && <Empty>{answer.why}</Empty>}
      {answer.kind === "there" && (
        <div class="tx-code tx-code-short">
          {answer.value.slice(first, frame.line + AROUND).map((line, offset) => (
            <PlainLine
              key={offset}
              line={line}
              number={first + offset + 1}
              failing={first + offset + 1 === frame.line}
            />
          ))}
        </div>
      )}
    </figure>
  );
}
