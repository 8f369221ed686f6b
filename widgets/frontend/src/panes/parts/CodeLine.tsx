/** One line of coloured code. Its tokens are only ever set as text. */

import { counted } from "../../format";
import type { TokenLine } from "../../host";
import { heatColour } from "../../profile";
import { SeenText } from "./SeenText";

/** Of one token; a longer one ends in an ellipsis. */
const LONGEST = 2000;

export interface LineMarks {
  /** Part of the selection. */
  lit: boolean;
  /** The requested line. */
  here?: boolean;
  /** The line at which an export failed. */
  failing?: boolean;
  /** How many ops the line made; 0 for a line that cannot be selected. */
  ops: number;
  /** The colour of the line and its ops, in CSS. */
  colour?: string | undefined;
  /** With a heat map, how much it costs of what the dearest line does, and in words. */
  heat?: number;
  cost?: string;
}

interface CodeLineProps {
  id: string;
  line: TokenLine;
  /** 1-based. */
  number: number;
  marks: LineMarks;
  active: boolean;
  /** Whether there is a column that says how many ops the line made. */
  counts: boolean;
  press: () => void;
}

/** A line to select, in a list of lines. */
export function CodeLine({ id, line, number, marks, active, counts, press }: CodeLineProps) {
  const { ops, lit, here, failing, colour, heat, cost } = marks;
  const classes = ["tx-line"];
  if (ops > 0) classes.push("tx-has-ops");
  if (lit) classes.push("tx-lit");
  if (here) classes.push("tx-here");
  if (failing) classes.push("tx-failing");
  if (active) classes.push("tx-active");
  const select =
    counts && ops > 0 ? `Select the ${counted(ops, "op")} of line ${number}` : undefined;
  const hint = cost ? `${cost}\n${select}` : select;
  if (colour) classes.push("tx-coloured");
  const warm = heat ? { background: heatColour(heat), color: "var(--tx-fg)" } : undefined;
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the list has the keys
    // biome-ignore lint/a11y/useFocusableInteractive: the list has the focus, this line is named by it
    <div
      id={id}
      class={classes.join(" ")}
      role="option"
      data-line={number}
      aria-selected={lit}
      aria-current={lit || undefined}
      aria-disabled={ops === 0}
      title={hint}
      style={colour && tinted(colour)}
      onClick={ops > 0 ? press : undefined}
    >
      <span class="tx-line-number">{number}</span>
      {failing && <FailsHere />}
      {counts && (
        // In the line's title, since a screen reader would not distinguish two bare numbers.
        <span class="tx-line-count" aria-hidden="true">
          {ops > 0 && <span style={warm}>{ops}</span>}
        </span>
      )}
      <Tokens line={line} />
    </div>
  );
}

const tinted = (colour: string) => ({
  "--tx-line-colour": colour,
  "--tx-line-tint": `color-mix(in srgb, ${colour} 13%, var(--tx-bg))`,
});

/** A line only to be read. */
export function PlainLine({ line, number, failing, marked = null }: PlainLineProps) {
  return (
    <div class={failing ? "tx-line tx-failing" : "tx-line"} data-line={number}>
      <span class="tx-line-number">{number}</span>
      {failing && <FailsHere />}
      <Tokens line={marked ? cut(line, marked) : line} />
    </div>
  );
}

/** The meaning of the line's colour, for screen readers. */
function FailsHere() {
  return <span class="tx-hidden">fails here: </span>;
}

interface PlainLineProps {
  line: TokenLine;
  /** 1-based. */
  number: number;
  failing: boolean;
  /** Columns of a part to underline. */
  marked?: readonly [start: number, end: number] | null;
}

/** Pure: the line with its tokens cut at a part's ends, those inside marked; never the indentation. */
export function cut(line: TokenLine, [first, end]: readonly [number, number]): TokenLine {
  const found: TokenLine = [];
  const whole = line.map(([, text]) => text).join("");
  const start = Math.max(first, whole.length - whole.trimStart().length);
  let at = 0;
  for (const [cls, text] of line) {
    const inside = [start - at, end - at].map((each) => Math.min(Math.max(each, 0), text.length));
    const [from = 0, to = 0] = inside;
    const parts: [string, string][] = [
      [cls, text.slice(0, from)],
      [`${cls} tx-marked`, text.slice(from, to)],
      [cls, text.slice(to)],
    ];
    found.push(...parts.filter(([, part]) => part));
    at += text.length;
  }
  return found;
}

function Tokens({ line }: { line: TokenLine }) {
  return (
    <code class="tx-line-text">
      {line.map(([cls, text], index) => (
        <span key={index} class={cls}>
          <SeenText text={text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text} />
        </span>
      ))}
    </code>
  );
}
