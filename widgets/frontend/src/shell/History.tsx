/**
 * The attempts of one call. Two modes side by side are a row of buttons; a chain of attempts is a
 * list that says what each step did and which attempt is current, and lets the user go back.
 */

import { viewId } from "../dom_id";
import { capped } from "../format";
import type { AttemptHead } from "../host";
import { Popover } from "../Popover";
import type { Store } from "../store";
import { tabKeys } from "./Tabs";

/** Whether a row of tabs says which program the view shows: attempts side by side, or a set's. */
export function isChosenByTabs(store: Store): boolean {
  const attempts = store.attempts.value;
  const isChain = attempts.some((each) => each.parent >= 0);
  return store.programs.value !== null || (attempts.length > 1 && !isChain);
}

export function History({ store }: { store: Store }) {
  const attempts = store.attempts.value;
  const inSet = store.programs.value !== null; // the strip shows its programs
  if (attempts.length < 2 || (inSet && attempts.every((each) => each.parent < 0))) return null;
  return attempts.some((each) => each.parent >= 0) ? (
    <Chain store={store} attempts={attempts} />
  ) : (
    <Row store={store} attempts={attempts} />
  );
}

interface AttemptsProps {
  store: Store;
  attempts: readonly AttemptHead[];
}

function Row({ store, attempts }: AttemptsProps) {
  return (
    <div
      class="tx-attempts"
      role="tablist"
      aria-label="Attempts"
      onKeyDown={tabKeys(
        [...attempts.keys()],
        store.current.value,
        (index) => void store.show(index),
      )}
    >
      {attempts.map((attempt, index) => (
        <button
          key={index}
          type="button"
          role="tab"
          class={`tx-button tx-mark-${attempt.outcome}`}
          aria-selected={store.current.value === index}
          aria-controls={viewId(store)}
          tabIndex={store.current.value === index ? 0 : -1}
          aria-busy={store.coming.value === index}
          title={capped(attempt.verdict)}
          onClick={() => void store.show(index)}
        >
          {capped(attempt.label, 40)}
        </button>
      ))}
    </div>
  );
}

function Chain({ store, attempts }: AttemptsProps) {
  const current = store.current.value;
  const comparable = attempts[current]?.outcome === "exported";
  return (
    <Popover name="History" face={`History ${current + 1}/${attempts.length}`}>
      {(close) => (
        <>
          <h3>Attempts</h3>
          <ol class="tx-history">
            {attempts.map((attempt, index) => (
              <li key={index} style={{ marginLeft: `${12 * depthOf(attempts, index)}px` }}>
                <button
                  type="button"
                  class={`tx-history-step tx-mark-${attempt.outcome}`}
                  aria-current={index === current ? "true" : undefined}
                  aria-busy={store.coming.value === index}
                  title={capped(attempt.verdict)}
                  onClick={() => void store.show(index)}
                >
                  {capped(store.nameOf(index), 200)}
                  <span class="tx-lead">{capped(attempt.verdict, 160)}</span>
                </button>
                {index !== current && attempt.outcome === "exported" && (
                  <button
                    type="button"
                    class="tx-button"
                    disabled={store.busy.value || !comparable}
                    title="Compares the program on screen with this one"
                    onClick={() => {
                      close();
                      void store.compare(index);
                    }}
                  >
                    Compare
                  </button>
                )}
                {index === store.held.value ? (
                  <span class="tx-badge">in the kernel</span>
                ) : (
                  store.host.live && (
                    <button
                      type="button"
                      class="tx-button"
                      disabled={store.busy.value}
                      title="Makes this attempt the current one in the kernel"
                      onClick={() => void store.use(index)}
                    >
                      Use
                    </button>
                  )
                )}
              </li>
            ))}
          </ol>
        </>
      )}
    </Popover>
  );
}

/** Pure: how many fixes lead to an attempt, as far as it can be drawn. */
export function depthOf(attempts: readonly AttemptHead[], index: number): number {
  let depth = 0;
  for (let at = attempts[index]?.parent ?? -1; at >= 0 && depth < 8; depth++) {
    at = attempts[at]?.parent ?? -1;
  }
  return depth;
}
