/** The first view of a failed export: one sentence, the failing line, and the rest on demand. */

import { capped } from "../../format";
import type { TokenLine } from "../../host";
import type { Frame, Program } from "../../program";
import type { Failure as FailureRecord } from "../../record.gen";
import type { Store } from "../../store";
import { PlainLine } from "../parts/CodeLine";
import { CodePage } from "../parts/CodePage";
import { CopyButton } from "../parts/CopyButton";
import { Frames } from "../parts/Frames";
import { GoToSource } from "../parts/GoToSource";
import { FrameLink } from "../parts/LineLink";
import { Empty, LongText, More, Prose, Waiting } from "../parts/parts";
import { useAnswer } from "../parts/useAnswer";
import { Fixes } from "./Fixes";
import { LinkedPage } from "./LinkedPage";
import { ReportIt } from "./ReportIt";

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
  const frame = stack.at(-1);
  return (
    <section
      class={`tx-failure${store.teaching.value ? " tx-failure-large" : ""}`}
      aria-label="Failure"
      data-testid="failure"
      data-pane
    >
      <div class="tx-failure-sentence">
        <h3>{capped(failure.kind, 200)}</h3>
        <p>
          <Prose text={failure.sentence} />
        </p>
      </div>
      {frame && <Excerpt store={store} program={program} frame={frame} span={failure.span} />}
      {failure.why && (
        <p class="tx-failure-why">
          <Prose text={failure.why} />
        </p>
      )}
      {!failure.known && (
        <p class="tx-failure-why">
          Export Explorer does not recognize this failure. See the line and torch's message.
        </p>
      )}
      <RelatedPlaces store={store} program={program} failure={failure} />
      <Fixes store={store} program={program} fixes={failure.fixes} />
      {stack.length > 1 && (
        <details>
          <summary>Call stack</summary>
          <Frames store={store} program={program} frames={stack} />
        </details>
      )}
      <ReportIt key={store.current.value} store={store} />
      <CodePage store={store} code={failure.code} />
      <Links store={store} failure={failure} />
      <Folded
        title={`torch's message (${failure.error})`}
        text={failure.message}
        most={LONGEST_MESSAGE}
      />
      <Folded title="The whole traceback" text={failure.traceback} most={LONGEST_TRACEBACK} />
    </section>
  );
}

/** Other lines that have to do with it, those of the failing line itself left out. */
function RelatedPlaces({ store, program, failure }: FailureProps) {
  const places = failure.related.flatMap(({ text, stack }) => {
    const frame = program.stackAt(stack).at(-1);
    return frame ? [{ text, frame }] : [];
  });
  if (places.length === 0) return null;
  return (
    <ul class="tx-related" aria-label="Related lines">
      <More items={places} few={6}>
        {({ text, frame }, index) => (
          <li key={index}>
            <FrameLink store={store} program={program} frame={frame} />{" "}
            <Prose text={text} most={400} />
          </li>
        )}
      </More>
    </ul>
  );
}

/** Where to read more: torch's own text here, its pages on request. */
function Links({ store, failure }: { store: Store; failure: FailureRecord }) {
  if (failure.links.length === 0) return null;
  return (
    <details>
      <summary>Read more</summary>
      <ul class="tx-related">
        {failure.links.map((link, index) => (
          <li key={index}>
            {link.url.startsWith("https://") ? (
              <a class="tx-link" href={link.url} target="_blank" rel="noopener noreferrer">
                {capped(link.name, 120)}
              </a>
            ) : (
              <strong>{capped(link.name, 120)}</strong>
            )}{" "}
            <Prose text={link.text} most={1000} />
            <LinkedPage store={store} link={link} />
          </li>
        ))}
      </ul>
    </details>
  );
}

function Folded({ title, text, most }: { title: string; text: string; most: number }) {
  if (!text) return null;
  return (
    <details>
      <summary>{capped(title, 200)}</summary>
      <div class="tx-copy-home">
        <CopyButton text={() => text} />
        <LongText name={capped(title, 200)}>{capped(text, most)}</LongText>
      </div>
    </details>
  );
}

interface ExcerptProps {
  store: Store;
  program: Program;
  frame: Frame;
  /** Line, column, end line and end column of the sub-expression; empty if not known. */
  span: number[];
}

/** The failing line with a few around it. */
function Excerpt({ store, program, frame, span }: ExcerptProps) {
  const answer = useAnswer(() => store.source(frame.file), [store, program, frame.file]);
  return (
    <figure class="tx-failure-code" aria-label="The failing line">
      <figcaption>
        <FrameLink store={store} program={program} frame={frame} />
        <GoToSource store={store} program={program} place={frame} />
        <span class="tx-lead">in {capped(frame.function, 120)}</span>
      </figcaption>
      {answer.kind === "waiting" && <Waiting what="the file" slow={answer.slow} />}
      {answer.kind === "refused" && <Empty>{answer.why}</Empty>}
      {answer.kind === "there" && (
        <div class="tx-code tx-code-short">
          {linesAround(answer.value, frame.line, span[2]).map(([number, line]) => (
            <PlainLine
              key={number}
              line={line}
              number={number}
              failing={number === frame.line}
              marked={markedOn(number, span)}
            />
          ))}
        </div>
      )}
    </figure>
  );
}

/** The most lines that a mark spans. */
const MOST_MARKED = 12;

/**
 * Pure: a line, those up to where the marked part ends, and a few around, by number; no blank ends.
 */
export function linesAround(
  lines: readonly TokenLine[],
  line: number,
  marked = line,
): [number: number, line: TokenLine][] {
  const isBlank = (index: number): boolean => !lines[index]?.some(([, text]) => text.trim());
  let first = Math.max(line - 1 - AROUND, 0);
  const last = Math.min(Math.max(marked, line), line + MOST_MARKED);
  let end = Math.min(last + AROUND, lines.length);
  while (first < line - 1 && isBlank(first)) first += 1;
  while (end > line && isBlank(end - 1)) end -= 1;
  return lines.slice(first, end).map((each, offset) => [first + offset + 1, each]);
}

/** Pure: the columns of a line that a span covers. */
export function markedOn(line: number, span: number[]): readonly [number, number] | null {
  const [start = 0, column = 0, end = 0, endColumn = 0] = span;
  if (span.length < 4 || line < start || line > end) return null;
  return [line === start ? column : 0, line === end ? endColumn : Number.POSITIVE_INFINITY];
}
