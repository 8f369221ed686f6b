/** Lines of coloured code, of which only those in view are in the page. */

import { useEffect } from "preact/hooks";
import type { TokenLine } from "../host";
import { useVirtual } from "./virtual";

export const LINE_HEIGHT = 18;
const LONGEST_LINE = 4000;

export interface LineMarks {
  lit: boolean;
  failing?: boolean;
  /** How many ops the line made; 0 for a line that cannot be chosen. */
  ops: number;
}

interface CodeLinesProps {
  lines: TokenLine[];
  marks: (index: number) => LineMarks;
  /** Called with the line's index. */
  press: (index: number) => void;
  /** The line to bring into view when it changes. */
  focus: number;
  label: string;
}

export function CodeLines({ lines, marks, press, focus, label }: CodeLinesProps) {
  const { element, range, scrollTo } = useVirtual(LINE_HEIGHT, lines.length);
  useEffect(() => scrollTo(focus), [focus, lines]);
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keys
    // biome-ignore lint/a11y/useSemanticElements: the rows out of view are no items
    <div ref={element} class="tx-code" role="list" aria-label={label} tabIndex={0}>
      <div style={{ height: `${range.first * LINE_HEIGHT}px` }} />
      {lines.slice(range.first, range.last).map((line, offset) => {
        const index = range.first + offset;
        return (
          <CodeLine
            key={index}
            line={line}
            number={index + 1}
            marks={marks(index)}
            press={() => press(index)}
          />
        );
      })}
      <div style={{ height: `${(lines.length - range.last) * LINE_HEIGHT}px` }} />
    </div>
  );
}

interface CodeLineProps {
  line: TokenLine;
  number: number;
  marks: LineMarks;
  press?: () => void;
}

export function CodeLine({ line, number, marks, press }: CodeLineProps) {
  const classes = ["tx-line"];
  if (marks.ops > 0) classes.push("tx-has-ops");
  if (marks.lit) classes.push("tx-lit");
  if (marks.failing) classes.push("tx-failing");
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the count in the line is a button
    // biome-ignore lint/a11y/useSemanticElements: the rows out of view are no items
    <div
      class={classes.join(" ")}
      role="listitem"
      data-line={number}
      aria-current={marks.lit || undefined}
      onClick={marks.ops > 0 ? press : undefined}
    >
      <span class="tx-line-number">{number}</span>
      {marks.ops > 0 ? (
        <button
          type="button"
          class="tx-line-count"
          title={`Select the ${marks.ops} ops of line ${number}`}
          aria-label={`Select the ${marks.ops} ops of line ${number}`}
          onClick={(event) => {
            event.stopPropagation();
            press?.();
          }}
        >
          {marks.ops}
        </button>
      ) : (
        <span class="tx-line-count" />
      )}
      <code class="tx-line-text">
        {line.map(([cls, text], index) => (
          <span key={index} class={cls}>
            {text.length > LONGEST_LINE ? `${text.slice(0, LONGEST_LINE)}…` : text}
          </span>
        ))}
      </code>
    </div>
  );
}
