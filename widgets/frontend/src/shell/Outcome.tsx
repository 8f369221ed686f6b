/**
 * How the last action went; which fixes an attempt came by, whether it is right, and how to undo
 * it.
 */

import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { capped, counted } from "../format";
import { CopyButton } from "../panes/parts/CopyButton";
import { Diff } from "../panes/parts/Diff";
import { Prose } from "../panes/parts/parts";
import { WriteButton } from "../panes/parts/WriteButton";
import type { Program } from "../program";
import type { Check } from "../record.gen";
import type { Store } from "../store";

/** A line each; the effect of a fix is shown in full on demand, and is gone once closed. */
export function Outcome({ store, program }: { store: Store; program: Program }) {
  const [closed, close] = useState(-1);
  const ended = store.ended.value;
  const attempt = store.current.value;
  const applied = program.record.fixed_by.length > 0 && closed !== attempt;
  if (!ended && !applied) return null;
  return (
    <div class="tx-outcome" data-testid="outcome">
      {ended && (
        <Line mark={store.refused.value ? "bad" : "note"}>
          <span title={capped(ended, 1000)}>{capped(ended, 1000)}</span>
          {store.report.value && (
            <CopyButton text={() => store.report.value} label="Copy the report" />
          )}
          <Close
            press={() => {
              store.ended.value = "";
            }}
          />
        </Line>
      )}
      {applied && (
        <Applied key={attempt} store={store} program={program} close={() => close(attempt)} />
      )}
    </div>
  );
}

function Close({ press }: { press: () => void }) {
  return (
    <button type="button" class="tx-more" aria-label="Dismiss" title="Dismiss" onClick={press}>
      ×
    </button>
  );
}

interface AppliedProps {
  store: Store;
  program: Program;
  close: () => void;
}

/** The fixes of an attempt, whether it agrees with eager, and what they gave up. */
function Applied({ store, program, close }: AppliedProps) {
  const { fixed_by: fixedBy, given_up: givenUp, fixed_code: code, check, outcome } = program.record;
  const [open, setOpen] = useState(false);
  const variable = store.attempts.value[store.current.value]?.name;
  const fixed = outcome === "exported";
  const checked = fixed ? check : null;
  // The mark is the verdict's, not that of this check alone.
  const claim = store.release.value?.items.find(({ name }) => name === "export");
  const more = givenUp.length > 0 || code.length > 0 || (checked?.trials.length ?? 0) > 0;
  const warned = (checked && claim?.state === "bad") || givenUp.length > 0;
  const good = fixed && (!checked || claim?.state === "good");
  return (
    <>
      <Line mark={warned ? "warn" : good ? "good" : "note"}>
        <span class={open ? "" : "tx-clip"}>
          <strong>{fixed ? "Fixed by" : "Applied"}</strong>{" "}
          <Prose text={fixedBy.join(", then ")} most={600} />
          {fixed && (checked || givenUp.length > 0) && "."}
          {!fixed && ". It still does not export; see below for the remaining failure."}
          {givenUp.map((text, index) => (
            <span key={index}>
              {" "}
              <strong>Gives up:</strong> <Prose text={text} most={600} />
            </span>
          ))}
          {checked && <span data-testid="check"> {capped(checked.sentence, 600)}</span>}
          {fixed && variable && (
            <span class="tx-lead">
              {" "}
              {capped(variable, 60)} is now this program; History goes back.
            </span>
          )}
        </span>
        {more && (
          <button type="button" class="tx-more" aria-expanded={open} onClick={() => setOpen(!open)}>
            {open ? "less" : "more"}
          </button>
        )}
        {fixed && <WriteButton store={store} fixes={[]} />}
        <Undo store={store} />
        <Close press={close} />
      </Line>
      {open && checked && <Trials check={checked} />}
      {open && code.length > 0 && (
        <p class="tx-lead">Changed code: {counted(code.length, "file")}</p>
      )}
      {open && code.map((text, index) => <Diff key={index} text={text} />)}
    </>
  );
}

const MARKS = { good: "✓", bad: "✗", warn: "⚠", note: "•" };

/** A sentence with a mark for the outcome. */
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

/** The sizes that were compared with eager, and how each went. */
function Trials({ check }: { check: Check }) {
  if (check.trials.length === 0) return null;
  return (
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
  );
}
