/** Tells that a file was opened as data, what needs its program, and what trusting it means. */

import { useState } from "preact/hooks";
import { Expected, loadTime } from "../panes/parts/Expected";
import type { Program } from "../program";
import type { Store } from "../store";

/** Those for which there is no room are left out as a whole. */
const WHY = [
  "Load it only if you trust its author.",
  "Verify, Run and Decompose load it, which can run code in it.",
];

export function Untrusted({ store, program }: { store: Store; program: Program }) {
  const [closed, close] = useState(false);
  const head = store.attempts.value[store.current.value];
  if (!head?.untrusted || !store.host.live || store.lost.value || closed) return null;
  return (
    <section class="tx-untrusted" aria-label="Trust" data-testid="untrusted">
      <p class="tx-verdict-parts" title={WHY.join(" ")}>
        <strong>Opened as data.</strong>
        {WHY.map((sentence) => (
          <span key={sentence}>&nbsp;{sentence}</span>
        ))}
      </p>
      <button
        type="button"
        class="tx-button"
        disabled={store.busy.value}
        onClick={() => void store.trust()}
      >
        Trust and load
      </button>
      <Expected store={store} action="Loading the program">
        {loadTime(program)}
      </Expected>
      <button
        type="button"
        class="tx-more"
        aria-label="Dismiss"
        title="Dismiss: Commands can still load it"
        onClick={() => close(true)}
      >
        ×
      </button>
    </section>
  );
}
