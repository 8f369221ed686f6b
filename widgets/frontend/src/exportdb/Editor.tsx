/**
 * A Python editor: a transparent text field over the same text in colour. The kernel does the
 * highlighting; lines that changed since are plain until it answers.
 */

import { useEffect, useRef, useState } from "preact/hooks";
import type { TokenLine } from "../host";
import { PlainLine } from "../panes/parts/CodeLine";
import { type Edit, edited } from "./typing";

interface EditorProps {
  label: string;
  text: string;
  /** The line to mark as wrong; 0: none. */
  bad: number;
  colour: (text: string) => Promise<TokenLine[]>;
  change: (text: string) => void;
  run: () => void;
}

const PAUSE_MS = 150;

export function Editor({ label, text, bad, colour, change, run }: EditorProps) {
  const [coloured, setColoured] = useState<TokenLine[]>([]);
  const area = useRef<HTMLTextAreaElement>(null);
  useEffect(() => {
    let current = true;
    const timer = setTimeout(
      () =>
        colour(text).then(
          (lines) => current && setColoured(lines),
          () => {},
        ),
      coloured.length > 0 ? PAUSE_MS : 0,
    );
    return () => {
      current = false;
      clearTimeout(timer);
    };
  }, [text]);
  const lines = withColours(text.split("\n"), coloured);
  const onKeyDown = (event: KeyboardEvent): void => {
    const at = area.current;
    if (!at) return;
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) run();
    else if (event.key === "Escape") leave(at);
    else {
      const edit = edited(at.value, at.selectionStart, at.selectionEnd, event);
      if (!edit) return;
      put(at, edit);
      change(at.value);
    }
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    <div class="tx-code tx-editor">
      <div class="tx-editor-home" style={{ minWidth: `calc(${widest(text)}ch + 60px)` }}>
        <div aria-hidden="true">
          {lines.map((line, index) => (
            <PlainLine key={index} line={line} number={index + 1} failing={index + 1 === bad} />
          ))}
        </div>
        <textarea
          ref={area}
          aria-label={label}
          aria-invalid={bad > 0}
          data-testid="case-source"
          value={text}
          spellcheck={false}
          autocomplete="off"
          autocapitalize="off"
          wrap="off"
          onInput={(event) => change(event.currentTarget.value)}
          onKeyDown={onKeyDown}
        />
      </div>
    </div>
  );
}

/** Inserts through the browser, so that undo works. */
function put(area: HTMLTextAreaElement, { start, end, text }: Edit): void {
  area.setSelectionRange(start, end);
  if (!document.execCommand("insertText", false, text)) area.setRangeText(text, start, end, "end");
}

/** Focus the element before the text, so that Tab, which indents in it, leaves it. */
function leave(area: HTMLElement): void {
  const page = area.closest(".tx-scroll");
  page?.querySelector<HTMLElement>(".tx-case-actions button")?.focus();
}

function widest(text: string): number {
  return Math.min(Math.max(...text.split("\n").map((line) => line.length)), 400);
}

/**
 * Pure: lines with the colours of an earlier text where they are still the same, from both ends.
 */
export function withColours(lines: readonly string[], coloured: readonly TokenLine[]): TokenLine[] {
  const same = (line: number, other: number): boolean =>
    coloured[other] !== undefined && textOf(coloured[other]) === lines[line];
  const found: TokenLine[] = lines.map((line) => (line ? [["", line]] : []));
  let top = 0;
  for (; top < lines.length && same(top, top); top++) found[top] = coloured[top] ?? [];
  for (let up = 1; lines.length - up >= top && coloured.length - up >= 0; up++) {
    if (!same(lines.length - up, coloured.length - up)) break;
    found[lines.length - up] = coloured[coloured.length - up] ?? [];
  }
  return found;
}

function textOf(line: TokenLine): string {
  return line.map(([, text]) => text).join("");
}
