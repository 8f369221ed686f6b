/** How two graphs are shown, and the way from one difference to the next. */

import { counted } from "../format";
import type { Store } from "../store";
import type { Arrangement, Comparison } from "./comparison";
import { stepDifference } from "./stepping";

const ARRANGEMENTS: [Arrangement, face: string, name: string][] = [
  ["beside", "Side by side", "Both programs, with matching ops in the same place"],
  ["overlay", "Overlay", "Both programs as one graph"],
  ["alone", "After", "Only the program on screen"],
];

export function CompareBar({ store, comparison }: { store: Store; comparison: Comparison }) {
  const count = comparison.entries.length;
  const at = comparison.at.value;
  const alone = store.arrangement.value === "alone";
  return (
    <div class="tx-tools" role="toolbar" aria-label="Comparison">
      <fieldset class="tx-choice" aria-label="How both graphs are shown">
        {ARRANGEMENTS.map(([arrangement, face, name]) => (
          <button
            key={arrangement}
            type="button"
            class="tx-button"
            title={name}
            aria-pressed={store.arrangement.value === arrangement}
            onClick={() => {
              store.arrangement.value = arrangement;
            }}
          >
            {face}
          </button>
        ))}
      </fieldset>
      <button
        type="button"
        class="tx-button"
        title={filterTitle(count, alone)}
        aria-label="Filter: only differences"
        aria-pressed={store.onlyDifferent.value}
        disabled={alone || count === 0}
        onClick={() => {
          store.onlyDifferent.value = !store.onlyDifferent.value;
        }}
      >
        Filter
      </button>
      {count > 0 && (
        <>
          <button
            type="button"
            class="tx-button"
            title="Previous difference (Shift+N)"
            aria-label="Previous difference"
            onClick={() => stepDifference(store, -1)}
          >
            ‹
          </button>
          <span class="tx-count" role="status">
            <span aria-hidden="true">{at < 0 ? count : `${at + 1}/${count}`}</span>
            <span class="tx-hidden">
              {at < 0 ? counted(count, "difference") : `Difference ${at + 1} of ${count}`}
            </span>
          </span>
          <button
            type="button"
            class="tx-button"
            title="Next difference (N)"
            aria-label="Next difference"
            onClick={() => stepDifference(store, 1)}
          >
            ›
          </button>
        </>
      )}
      <button
        type="button"
        class="tx-button"
        title="Close the comparison"
        aria-label="Close the comparison"
        onClick={() => store.stopComparing()}
      >
        ×
      </button>
    </div>
  );
}

function filterTitle(count: number, alone: boolean): string {
  if (count === 0) return "No differences";
  if (alone) return "Available when both programs are shown";
  return "Only differences, with their inputs and users";
}
