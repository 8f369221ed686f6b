/** Rewrites that bring ops into the delegate: each with its gain, and a button that applies it. */

import { capped, counted, durationText } from "../../format";
import type { Delegation, TriedFix } from "../../record.gen";
import type { Store } from "../../store";
import { Expected } from "../parts/Expected";
import { Empty, Prose } from "../parts/parts";
import { Word } from "../parts/Word";

interface Props {
  store: Store;
  delegation: Delegation;
}

export function DelegationFixes({ store, delegation }: Props) {
  const { kinds, fixes, seconds, backend } = delegation;
  if (kinds.length === 0 && !fixes?.length) return null;
  const busy = store.busy.value;
  return (
    <section aria-label="Fixes" data-testid="delegate-fixes">
      <h3 class="tx-pane-title">Fixes</h3>
      {store.host.live && (
        <div class="tx-filters">
          <button
            type="button"
            class="tx-button tx-primary"
            disabled={busy}
            title="Applies all rewrites that agree with eager and bring ops in"
            data-testid="delegate-autofix"
            onClick={() => void store.fixDelegation(backend, "")}
          >
            Fix automatically
          </button>
          <button
            type="button"
            class="tx-button"
            disabled={busy}
            data-testid="delegate-find-fixes"
            title="Tries each kind of rewrite alone"
            onClick={() => void store.findDelegationFixes(backend)}
          >
            Find fixes
          </button>
          <Expected store={store} action="Trying rewrites">
            {counted(kinds.length, "kind")} may apply, each lowered again: about{" "}
            {durationText(Math.max(1, kinds.length * seconds))}, Stop at any time
          </Expected>
        </div>
      )}
      {fixes?.length === 0 && <Empty>No rewrite brings more ops in.</Empty>}
      <ul class="tx-findings">
        {(fixes ?? []).map((fix) => (
          <Fix key={fix.kind} store={store} backend={backend} fix={fix} />
        ))}
      </ul>
    </section>
  );
}

function Fix({ store, backend, fix }: { store: Store; backend: string; fix: TriedFix }) {
  const id = `tx-rewrite-${store.current.value}-${fix.kind.replace(/\W/g, "-")}`;
  const [place] = fix.places;
  return (
    <li class="tx-fix" data-testid="delegation-fix">
      <div class="tx-fix-head">
        <strong id={id} class="tx-fix-title">
          {capped(fix.title, 200)}
          {fix.ops.length > 1 && ` ×${fix.ops.length}`}
        </strong>
        {store.host.live && (
          <button
            type="button"
            class="tx-button tx-primary"
            disabled={store.busy.value}
            aria-describedby={id}
            onClick={() => void store.fixDelegation(backend, fix.kind)}
          >
            Apply
          </button>
        )}
      </div>
      <p class="tx-fix-marks">
        <Word
          cls={fix.is_lossless ? "tx-badge tx-badge-good" : "tx-badge tx-badge-warn"}
          word={fix.is_lossless ? "lossless" : "lossy"}
        />
        <span class="tx-lead">{capped(fix.gain, 200)}</span>
      </p>
      <p class="tx-fix-why">
        <Prose text={fix.agreement} most={300} />
      </p>
      {place?.code && (
        <p class="tx-fix-why">
          <code>{capped(place.code, 120)}</code>{" "}
          {fix.places.length > 1 && <span class="tx-lead">and {fix.places.length - 1} more</span>}
        </p>
      )}
    </li>
  );
}
