/** The fixes of a failed export: apply one, tick several, or let the kernel find its way. */

import { useState } from "preact/hooks";
import { counted } from "../../format";
import type { Program } from "../../program";
import type { FixCard as Card } from "../../record.gen";
import type { Store } from "../../store";
import { Expected, exportTime } from "../parts/Expected";
import { Empty } from "../parts/parts";
import { FixCard } from "./FixCard";

interface FixesProps {
  store: Store;
  program: Program;
  fixes: Card[];
}

export function Fixes({ store, program, fixes }: FixesProps) {
  const [ticked, setTicked] = useState<ReadonlySet<number>>(new Set());
  const busy = store.busy.value;
  const toggle = (number: number): void => {
    const next = new Set(ticked);
    if (!next.delete(number)) next.add(number);
    setTicked(next);
  };
  if (fixes.length === 0) {
    return (
      <Empty>
        No fix is known for this failure. Change the failing line, run its cell, and export again;
        torch's own message below may say more.
      </Empty>
    );
  }
  const chosen = [...ticked].sort((a, b) => a - b);
  return (
    <section class="tx-fixes" aria-label="Fixes">
      <div class="tx-fixes-head">
        <h4>{counted(fixes.length, "fix", "fixes")}</h4>
        {store.host.live && chosen.length > 1 && (
          <button
            type="button"
            class="tx-button tx-primary"
            disabled={busy}
            onClick={() => void store.apply(chosen, `Applying ${chosen.length} fixes`)}
          >
            Apply {chosen.length} fixes together
          </button>
        )}
        {store.host.live && fixes.some((fix) => !fix.lossy) && (
          <button
            type="button"
            class="tx-button"
            disabled={busy}
            title="Applies lossless fixes until the export succeeds or none is left"
            onClick={() => void store.autofix()}
          >
            Fix automatically
          </button>
        )}
        {store.host.live && (
          <Expected store={store} action="Fixing">
            each exports again: {exportTime(program)}
          </Expected>
        )}
      </div>
      <ol class="tx-fix-list">
        {fixes.map((fix, number) => (
          <FixCard
            key={number}
            store={store}
            program={program}
            fix={fix}
            number={number}
            ticked={ticked.has(number)}
            {...(fixes.length > 1 && store.host.live ? { tick: () => toggle(number) } : {})}
          />
        ))}
      </ol>
    </section>
  );
}
