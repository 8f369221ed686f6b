/** The first line: the call, how it went, and what else there is to know. */

import { useState } from "preact/hooks";
import { capped, counted } from "../format";
import type { Program } from "../program";
import type { Store } from "../store";

const KEYS: [string, string][] = [
  ["/", "search"],
  ["↑ ↓ ← →", "walk along the graph or the outline"],
  ["Enter", "open or close a scope"],
  ["Esc", "clear the selection"],
  ["f", "show the whole graph"],
  ["z", "go to the selection"],
  ["+ −", "zoom; Ctrl and the wheel do too"],
  ["e, c", "expand or collapse everything"],
  ["p", "highlight the path through the selection"],
];

interface HeaderProps {
  store: Store;
  program: Program;
  full: boolean;
  toggleFull: () => void;
}

export function Header({ store, program, full, toggleFull }: HeaderProps) {
  const [shown, setShown] = useState<"notes" | "help" | null>(null);
  const { record } = program;
  const notes = record.warnings.length + (record.printed ? 1 : 0);
  const flip = (which: "notes" | "help"): void => setShown(shown === which ? null : which);
  return (
    <>
      <header class="tx-header">
        <span class="tx-title" title={capped(record.title)}>
          {capped(record.title, 200)}
        </span>
        <Attempts store={store} />
        <span
          class={`tx-verdict tx-mark-${record.outcome}`}
          title={capped(record.verdict)}
          data-testid="verdict"
        >
          {capped(record.verdict, 400)}
        </span>
        {notes > 0 && (
          <button
            type="button"
            class="tx-button"
            aria-expanded={shown === "notes"}
            onClick={() => flip("notes")}
          >
            {counted(notes, "note")}
          </button>
        )}
        <button
          type="button"
          class="tx-button"
          title="Keys"
          aria-label="Keys"
          aria-expanded={shown === "help"}
          onClick={() => flip("help")}
        >
          ?
        </button>
        <button
          type="button"
          class="tx-button"
          title={full ? "Leave full screen" : "Full screen"}
          aria-label={full ? "Leave full screen" : "Full screen"}
          onClick={toggleFull}
        >
          {full ? "Close" : <FullScreenIcon />}
        </button>
      </header>
      {shown === "notes" && (
        <div class="tx-popover" role="dialog" aria-label="Notes">
          <h3>While tracing</h3>
          {record.warnings.map((warning) => (
            <pre key={warning} class="tx-text">
              {capped(warning, 4000)}
            </pre>
          ))}
          {record.printed && (
            <>
              <h3>The model printed</h3>
              <pre class="tx-text">{capped(record.printed, 20_000)}</pre>
            </>
          )}
        </div>
      )}
      {shown === "help" && (
        <div class="tx-popover" role="dialog" aria-label="Keys">
          <h3>Keys</h3>
          <dl class="tx-keys">
            {KEYS.flatMap(([key, does]) => [<dt key={key}>{key}</dt>, <dd key={does}>{does}</dd>])}
          </dl>
        </div>
      )}
    </>
  );
}

/** Four corners. Drawn, since few fonts have the sign. */
function FullScreenIcon() {
  return (
    <svg width="11" height="11" viewBox="0 0 11 11" aria-hidden="true">
      <path
        d="M1 4V1h3M7 1h3v3M10 7v3H7M4 10H1V7"
        fill="none"
        stroke="currentColor"
        stroke-width="1.4"
      />
    </svg>
  );
}

/** Several attempts of one call, such as both modes: each with its outcome, one of them shown. */
function Attempts({ store }: { store: Store }) {
  const attempts = store.attempts.value;
  if (attempts.length < 2) return null;
  return (
    <div class="tx-attempts" role="tablist" aria-label="Attempts">
      {attempts.map((attempt, index) => (
        <button
          key={index}
          type="button"
          role="tab"
          class={`tx-button tx-mark-${attempt.outcome}`}
          aria-selected={store.current.value === index}
          title={capped(attempt.verdict)}
          onClick={() => void store.show(index)}
        >
          {attempt.label}
        </button>
      ))}
    </div>
  );
}
