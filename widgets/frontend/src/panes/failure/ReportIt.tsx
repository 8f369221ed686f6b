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
          onClick={() => void store.reproduce().then((made) => made && setFound(made))}
        >
          {found ? "Report it again" : "Report it"}
        </button>
        {!found && (
          <span class="tx-lead">
            Exports smaller and smaller scripts that fail the same way, without your weights, for up
            to two minutes. Stop keeps the shortest so far.
          </span>
        )}
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
