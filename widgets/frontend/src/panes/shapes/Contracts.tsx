/** The same call under torch's other form of shapes, Dims or a ShapesSpec: how the contracts differ. */

import { useState } from "preact/hooks";
import { capped } from "../../format";
import type { ContractsCompared } from "../../messages.gen";
import type { Program } from "../../program";
import type { Store } from "../../store";
import { exportTime } from "../parts/Expected";

interface Props {
  store: Store;
  program: Program;
}

const MOST_LINES = 200;

export function Contracts({ store, program }: Props) {
  const [found, keep] = useState<ContractsCompared | null>(null);
  const { other_form } = program.record;
  if (!other_form || !store.host.live) return null;
  const other = other_form === "Dims" ? "Dims" : "a ShapesSpec";
  return (
    <div data-testid="contracts">
      <div class="tx-filters">
        <button
          type="button"
          class="tx-button"
          disabled={store.busy.value}
          title={`Exports the same call with ${other}, and lists the ops, ranges and rejected sizes that differ`}
          onClick={async () => keep((await store.contracts()) ?? found)}
        >
          Compare with {other}
        </button>
        {!found && <span class="tx-lead">exports again: {exportTime(program)}</span>}
        {found?.exported && (
          <button
            type="button"
            class="tx-button"
            disabled={store.busy.value}
            onClick={() => void store.compare(found.attempt)}
          >
            Both graphs
          </button>
        )}
      </div>
      {found && (
        <pre class="tx-contracts-said" role="status">
          {found.lines
            .slice(0, MOST_LINES)
            .map((line) => capped(line, 400))
            .join("\n")}
        </pre>
      )}
    </div>
  );
}
