/** The backend to lower for, and its buttons. */

import { useState } from "preact/hooks";
import { capped } from "../../format";
import type { Store } from "../../store";
import { Expected } from "../parts/Expected";
import { Empty } from "../parts/parts";
import { useAnswer } from "../parts/useAnswer";

interface Props {
  store: Store;
  /** Called with the backend when it lowers. */
  lowered: (backend: string) => void;
}

export function DelegateForm({ store, lowered }: Props) {
  const answer = useAnswer(() => store.setups(), [store]);
  const [backend, setBackend] = useState("xnnpack");
  const [measure, setMeasure] = useState(false);
  if (answer.kind === "waiting") return <Empty>Checking which backends are installed…</Empty>;
  if (answer.kind === "refused") return <Empty>{answer.why}</Empty>;
  const { delegates } = answer.value;
  const missing = delegates.find(({ name }) => name === backend)?.missing;
  const busy = store.busy.value;
  return (
    <form
      class="tx-run-form"
      onSubmit={(event) => {
        event.preventDefault();
        if (busy || missing) return;
        lowered(backend);
        void store.delegate(backend, measure);
      }}
    >
      <div class="tx-filters">
        <select
          class="tx-input"
          aria-label="Delegation backend"
          value={backend}
          data-testid="delegate-backend"
          onChange={(event) => setBackend(event.currentTarget.value)}
        >
          {delegates.map(({ name, title }) => (
            <option key={name} value={name}>
              {capped(title, 60)}
            </option>
          ))}
        </select>
        <button
          type="submit"
          class="tx-button tx-primary"
          disabled={busy || Boolean(missing)}
          title="Lowers a copy of the program"
          data-testid="delegate-run"
        >
          Lower
        </button>
        <label title="Also runs the lowered program with ExecuTorch here, and times its ops">
          <input
            type="checkbox"
            checked={measure}
            data-testid="delegate-measure"
            onChange={(event) => setMeasure(event.currentTarget.checked)}
          />{" "}
          Time it
        </label>
        <button
          type="button"
          class="tx-button"
          disabled={busy}
          title="Checks every op against every installed backend, without lowering"
          data-testid="can-take"
          onClick={() => void store.canTake()}
        >
          Compare backends
        </button>
        <Expected store={store} action="Lowering">
          lowers a copy: seconds to a minute, Stop at any time
        </Expected>
      </div>
      {missing && <p class="tx-lead">{capped(missing, 300)}</p>}
    </form>
  );
}
