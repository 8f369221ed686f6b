/** How the last action went; which fixes an attempt came by, whether it is right, and how to undo it. */

import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { capped, counted } from "../format";
import type { Release } from "../messages.gen";
import { CopyButton } from "../panes/parts/CopyButton";
import { Diff } from "../panes/parts/Diff";
import { Prose } from "../panes/parts/parts";
import { WriteButton } from "../panes/parts/WriteButton";
import type { Program } from "../program";
import type { Check } from "../record.gen";
import type { Store } from "../store";

export function Outcome({ store, program }: { store: Store; program: Program }) {
  const { fixed_by: fixedBy, given_up: givenUp, fixed_code: code, check, outcome } = program.record;
  const ended = store.ended.value;
  const applied = fixedBy.length > 0;
  const fixed = applied && outcome === "exported";
  if (!ended && !applied) return null;
  return (
    <div class="tx-outcome" data-testid="outcome">
      {ended && (
        <Line mark={store.refused.value ? "bad" : "note"}>
          <span>{capped(ended, 1000)}</span>
          {store.report.value && (
            <CopyButton text={() => store.report.value} label="Copy the report" />
          )}
          <button
            type="button"
            class="tx-more"
            aria-label="Dismiss"
            title="Dismiss"
            onClick={() => {
              store.ended.value = "";
            }}
          >
            ×
          </button>
        </Line>
      )}
      {applied && (
        <Line mark={fixed ? "good" : "note"}>
          <span>
            <strong>{fixed ? "Fixed by" : "Applied"}</strong>{" "}
            <Prose text={fixedBy.join(", then ")} most={600} />
            {!fixed && ". It still does not export; see below for the remaining failure."}
          </span>
          {fixed && <WriteButton store={store} fixes={[]} />}
          <Undo store={store} />
        </Line>
      )}
      {givenUp.map((text, index) => (
        <Line key={index} mark="warn">
          <span>
            <strong>Gives up:</strong> <Prose text={text} most={600} />
          </span>
        </Line>
      ))}
      {fixed && check && <Checked check={check} release={store.release.value} />}
      {applied && code.length > 0 && (
        <details>
          <summary>Changed code: {counted(code.length, "file")}</summary>
          {code.map((text, index) => (
            <Diff key={index} text={text} />
          ))}
        </details>
      )}
    </div>
  );
}

const MARKS = { good: "✓", bad: "✗", warn: "⚠", note: "•" };

/** A sentence behind a mark that says at a glance how it went. */
function Line({ mark, children }: { mark: keyof typeof MARKS; children: ComponentChildren }) {
  return (
    <p class={`tx-outcome-line tx-outcome-${mark}`}>
      <span class="tx-outcome-mark" aria-hidden="true">
        {MARKS[mark]}
      </span>
      {children}
    </p>
  );
}

function Undo({ store }: { store: Store }) {
  const parent = store.attempts.value[store.current.value]?.parent ?? -1;
  if (!store.host.live || parent < 0) return null;
  return (
    <button
      type="button"
      class="tx-button"
      disabled={store.busy.value}
      title="Go back to the previous attempt"
      onClick={() => void store.use(parent)}
    >
      Undo
    </button>
  );
}

const OF_CLAIMS = { good: "good", open: "note", bad: "warn", none: "note" } as const;

/** Whether fixes kept the model as it was: the mark is the verdict's, not that of this check alone. */
function Checked({ check, release }: { check: Check; release: Release | null }) {
  const [open, setOpen] = useState(false);
  const claim = release?.items.find(({ name }) => name === "export");
  return (
    <div data-testid="check">
      <Line mark={OF_CLAIMS[claim?.state ?? "open"]}>
        <span>{capped(check.sentence, 600)}</span>
        {check.trials.length > 0 && (
          <button type="button" class="tx-more" aria-expanded={open} onClick={() => setOpen(!open)}>
            {open ? "hide the runs" : "show the runs"}
          </button>
        )}
      </Line>
      {open && (
        <table class="tx-table">
          <thead>
            <tr>
              <th>Sizes</th>
              <th>Outcome</th>
              <th>Largest difference</th>
            </tr>
          </thead>
          <tbody>
            {check.trials.map((trial, index) => (
              <tr key={index}>
                <td>{capped(trial.sizes || "the example's sizes, new values", 200)}</td>
                <td>
                  {trial.outcome}
                  {trial.detail && `: ${capped(trial.detail, 200)}`}
                </td>
                <td>{trial.outcome === "agrees" ? trial.error.toExponential(1) : ""}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </div>
  );
}
