/** How a program came about that did not export at first, whether it is right, and how to undo it. */

import { useState } from "preact/hooks";
import { capped, counted } from "../format";
import { Diff } from "../panes/Diff";
import type { Program } from "../program";
import type { Check } from "../record.gen";
import type { Store } from "../store";

export function Outcome({ store, program }: { store: Store; program: Program }) {
  const { fixed_by: fixedBy, fixed_code: code, check } = program.record;
  const ended = store.ended.value;
  const attempt = store.attempts.value[store.current.value];
  const parent = attempt?.parent ?? -1;
  const fixed = fixedBy.length > 0 && program.record.outcome === "exported";
  if (!ended && !fixed) return null;
  return (
    <div class="tx-outcome" role="status" data-testid="outcome">
      {ended && <p>{capped(ended, 1000)}</p>}
      {fixed && (
        <p>
          <strong>Fixed by</strong> {capped(fixedBy.join(", then "), 600)}
          {store.host.live && parent >= 0 && (
            <>
              {" "}
              <button
                type="button"
                class="tx-button"
                disabled={store.working.value !== null}
                title="Go back to the attempt before"
                onClick={() => void store.use(parent)}
              >
                Undo
              </button>
            </>
          )}
        </p>
      )}
      {fixed && check && <Checked check={check} />}
      {fixed && code.length > 0 && (
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

function Checked({ check }: { check: Check }) {
  const [open, setOpen] = useState(false);
  const good = check.verdict === "agrees";
  const bad = check.verdict === "differs" || check.verdict === "refused";
  return (
    <div class={bad ? "tx-check tx-check-bad" : "tx-check"} data-testid="check">
      <p>
        {good ? "✓ " : bad ? "⚠ " : ""}
        {capped(check.sentence, 600)}
        {check.trials.length > 0 && (
          <>
            {" "}
            <button
              type="button"
              class="tx-more"
              aria-expanded={open}
              onClick={() => setOpen(!open)}
            >
              {open ? "hide the runs" : "show the runs"}
            </button>
          </>
        )}
      </p>
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
                <td>{capped(trial.sizes || "those of the example, fresh values", 200)}</td>
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
