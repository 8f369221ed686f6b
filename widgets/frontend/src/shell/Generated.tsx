/** Generations by the programs of a set, compared with the model's own, and a form for more. */

import { useState } from "preact/hooks";
import { capped } from "../format";
import type { GeneratingBackend } from "../messages.gen";
import { Expected } from "../panes/parts/Expected";
import { Prose } from "../panes/parts/parts";
import type { GenerationTrial, ProgramSet } from "../record.gen";
import type { Store } from "../store";

interface GeneratedProps {
  store: Store;
  set: ProgramSet;
  /** The backends that can generate; none without a kernel. */
  backends: readonly GeneratingBackend[];
}

export function Generated({ store, set, backends }: GeneratedProps) {
  return (
    <>
      <h3>Greedy generation, compared with generate()</h3>
      {backends.length > 0 && <Form store={store} backends={backends} />}
      {set.trials.length > 0 && (
        <table class="tx-table tx-strip-trials">
          <thead>
            <tr>
              {["Sizes", "Backend", "Tokens", "First token", "Tokens/s"].map((each) => (
                <th key={each} scope="col">
                  {each}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {set.trials.map((each, index) => (
              <Trial key={index} store={store} set={set} trial={each} />
            ))}
          </tbody>
        </table>
      )}
      {set.trials.some((each) => each.rate > 0) && (
        <p class="tx-faint">Tokens/s: after the first token, over all rows of the batch.</p>
      )}
    </>
  );
}

function Form({ store, backends }: { store: Store; backends: readonly GeneratingBackend[] }) {
  const [chosen, choose] = useState(backends[0]?.name ?? "");
  const absent = backends.filter((each) => each.missing !== null);
  return (
    <>
      <p class="tx-strip-form">
        <label>
          Backend{" "}
          <select value={chosen} onChange={(event) => choose(event.currentTarget.value)}>
            {backends.map((each) => (
              <option key={each.name} value={each.name} disabled={each.missing !== null}>
                {capped(each.title, 60)}
              </option>
            ))}
          </select>
        </label>{" "}
        <button
          type="button"
          class="tx-button"
          disabled={store.busy.value}
          onClick={() => void store.generate(chosen)}
        >
          Generate
        </button>{" "}
        <Expected store={store} action="Generating">
          one call per token, and the model's own beside it: seconds
        </Expected>
      </p>
      {absent.map((each) => (
        <p key={each.name} class="tx-faint">
          {capped(each.title, 60)}: {capped(each.missing ?? "", 300)}
        </p>
      ))}
    </>
  );
}

const MARKS = { same: "✓", differs: "✗", failed: "✗", unavailable: "–" } as const;

interface TrialProps {
  store: Store;
  set: ProgramSet;
  trial: GenerationTrial;
}

function Trial({ store, set, trial }: TrialProps) {
  return (
    <tr>
      <td>{capped(trial.sizes, 60).replaceAll(" = ", "\u00a0=\u00a0")}</td>
      <td class="tx-strip-word">{capped(trial.backend, 40)}</td>
      <td>
        {MARKS[trial.outcome]} <Prose text={trial.sentence} most={600} />
        {trial.node >= 0 && (
          <button
            type="button"
            class="tx-link"
            onClick={() => void store.showBetween(trial.component, trial.node)}
          >
            show the op in {capped(set.components[trial.component]?.name ?? "", 60)}
          </button>
        )}
      </td>
      <Times trial={trial} />
    </tr>
  );
}

function Times({ trial }: { trial: GenerationTrial }) {
  if (trial.rate === 0) return <td colSpan={2} />;
  return (
    <>
      <td>
        {trial.first_ms.toFixed(0)}&nbsp;ms{" "}
        <span class="tx-faint">eager&nbsp;{trial.eager_first_ms.toFixed(0)}</span>
      </td>
      <td>
        {trial.rate.toFixed(0)}{" "}
        <span class="tx-faint">eager&nbsp;{trial.eager_rate.toFixed(0)}</span>
      </td>
    </>
  );
}
