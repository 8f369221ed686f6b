/** Lines of coloured code, of which only those in view are in the page. Arrows walk along them. */

import { useEffect, useMemo, useState } from "preact/hooks";
import { useDomId } from "../../dom_id";
import type { TokenLine } from "../../host";
import { CodeLine, type LineMarks } from "../parts/CodeLine";
import { isDrawn, useVirtual } from "../parts/virtual";

const LINE_HEIGHT = 18;
const PAGE = 15;
/** Wider than this in characters, a line is cut by its own text's limit. */
const WIDEST = 600;

interface CodeLinesProps {
  lines: TokenLine[];
  marks: (index: number) => LineMarks;
  /** Called with the line's index. */
  press: (index: number) => void;
  /** The line to begin at if there is none to bring into view. */
  start?: number;
  /** The line to bring into view; -1 for none. */
  focus: number;
  /** Whenever this is another one, the line is brought into view again. */
  cause: unknown;
  label: string;
  /** Whether each line says how many ops it made. */
  counts: boolean;
  /** The number before a line, by its index; its 1-based place if it is missing. */
  numberOf?: (index: number) => number;
}

export function CodeLines(props: CodeLinesProps) {
  const { lines, marks, press, start = 0, focus, cause, label, counts } = props;
  const numberOf = props.numberOf ?? ((index: number): number => index + 1);
  const { element, range, scrollTo } = useVirtual(LINE_HEIGHT, lines.length);
  const [active, setActive] = useState(0);
  const columns = useMemo(() => widest(lines), [lines]);
  useEffect(() => {
    if (focus < 0) begin(start);
  }, [lines]);
  useEffect(() => {
    if (focus < 0) return;
    setActive(focus);
    scrollTo(focus);
  }, [cause, focus, lines]);
  /** A different text: do not keep the old scroll position. */
  const begin = (line: number): void => {
    setActive(line);
    if (element.current) element.current.scrollTop = 0;
    scrollTo(line);
  };
  const go = (index: number): void => {
    const at = Math.min(Math.max(index, 0), lines.length - 1);
    setActive(at);
    scrollTo(at);
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    const to = { ArrowDown: 1, ArrowUp: -1, PageDown: PAGE, PageUp: -PAGE }[event.key];
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (to !== undefined) go(active + to);
    else if (event.key === "Home") go(0);
    else if (event.key === "End") go(lines.length - 1);
    else if (event.key === "Enter" || event.key === " ") {
      if (marks(active).ops > 0) press(active);
    } else return;
    event.preventDefault();
    event.stopPropagation();
  };
  const id = useDomId();
  return (
    <div
      ref={element}
      class="tx-code"
      role="listbox"
      aria-label={label}
      aria-multiselectable="true"
      aria-activedescendant={isDrawn(range, active) ? `${id}-${active}` : undefined}
      tabIndex={0}
      data-focus
      onKeyDown={onKeyDown}
    >
      <div style={{ minWidth: `max(100%, calc(${columns}ch + 88px))` }}>
        <div style={{ height: `${range.first * LINE_HEIGHT}px` }} />
        {lines.slice(range.first, range.last).map((line, offset) => {
          const index = range.first + offset;
          return (
            <CodeLine
              key={index}
              id={`${id}-${index}`}
              line={line}
              number={numberOf(index)}
              marks={marks(index)}
              active={index === active}
              counts={counts}
              press={() => {
                setActive(index);
                press(index);
              }}
            />
          );
        })}
        <div style={{ height: `${(lines.length - range.last) * LINE_HEIGHT}px` }} />
      </div>
    </div>
  );
}

/** The length of the longest line, in characters. */
function widest(lines: TokenLine[]): number {
  let most = 0;
  for (const line of lines) {
    let length = 0;
    for (const [, text] of line) length += text.length;
    most = Math.max(most, length);
  }
  return Math.min(most, WIDEST);
}
