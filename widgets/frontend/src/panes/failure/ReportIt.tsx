/** A short script that fails the same, to be sent with an issue. */

import { useState } from "preact/hooks";
import type { ReproducedScript } from "../../messages.gen";
import type { Store } from "../../store";
import { PlainLine } from "../parts/CodeLine";
import { CopyButton } from "../parts/CopyButton";
import { Prose } from "../parts/parts";

export function ReportIt({ store }: { store: Store }) {
  const [found, setFound] = useState<ReproducedScript | null>(null);
  if (!store.host.live) return null;
  return (
    <section class="tx-report-it" aria-label="Report it" data-testid="report-it">
      <div class="tx-fixes-head">
        <button
          type="button"
          class="tx-button"
          disabled={store.busy.value}
          title="Makes a short script without weights that fails the same, in a minute; Stop keeps the shortest"
          onClick={() => void store.reproduce().then((made) => made && setFound(made))}
        >
          {found ? "Report it again" : "Report it"}
        </button>
        {found && <CopyButton text={() => found.issue} label="Copy the issue" />}
      </div>
      {found && (
        <>
          <p class="tx-lead" role="status">
            <Prose text={found.sentence} />
          </p>
          <div class="tx-copy-home">
            <CopyButton text={() => found.script} label="Copy the script" face="Copy" />
            <div class="tx-code tx-code-short" data-testid="reproduced">
              {found.lines.map((line, index) => (
                <PlainLine key={index} line={line} number={index + 1} failing={false} />
              ))}
            </div>
          </div>
        </>
      )}
    </section>
  );
}
