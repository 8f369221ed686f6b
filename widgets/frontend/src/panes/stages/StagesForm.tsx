/** What compiles the program, and the button that does. */

import { useState } from "preact/hooks";
import type { Store } from "../../store";

const BACKENDS: readonly [string, string][] = [
  ["inductor", "torch.compile"],
  ["aoti", "AOTInductor"],
];

export function StagesForm({ store }: { store: Store }) {
  const [backend, setBackend] = useState("inductor");
  const busy = store.busy.value;
  return (
    <form
      class="tx-run-form"
      onSubmit={(event) => {
        event.preventDefault();
        if (!busy) void store.stages(backend, "cpu");
      }}
    >
      <div class="tx-filters">
        <select
          class="tx-input"
          aria-label="Compiler"
          value={backend}
          data-testid="stages-backend"
          onChange={(event) => setBackend(event.currentTarget.value)}
        >
          {BACKENDS.map(([name, title]) => (
            <option key={name} value={name}>
              {title}
            </option>
          ))}
        </select>
        <button
          type="submit"
          class="tx-button tx-primary"
          disabled={busy}
          title="Compiles the program and times its kernels"
          data-testid="stages-run"
        >
          After export…
        </button>
        <span class="tx-lead">compiles: tens of seconds, Stop at any time</span>
      </div>
    </form>
  );
}
