/** Says that a file was opened as data, what its program is needed for, and what trusting it means. */

import type { Store } from "../store";

const WHY =
  "Trust the file only if you know who made it: loading runs its code. " +
  "Verify, Run and Decompose need that.";

export function Untrusted({ store }: { store: Store }) {
  const head = store.attempts.value[store.current.value];
  if (!head?.untrusted || !store.host.live || store.lost.value) return null;
  return (
    <section class="tx-untrusted" aria-label="Trust" data-testid="untrusted">
      <p class="tx-clip" title={WHY}>
        <strong>Opened as data.</strong> {WHY}
      </p>
      <button
        type="button"
        class="tx-button"
        disabled={store.busy.value}
        onClick={() => void store.trust()}
      >
        Trust and load
      </button>
    </section>
  );
}
