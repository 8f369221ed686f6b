/** Guarantees of torch.export, checked on this program on demand. */

import { useState } from "preact/hooks";
import { capped, durationText } from "../../format";
import type { ReleaseItem } from "../../messages.gen";
import type { Program } from "../../program";
import type { GuaranteeRow } from "../../record.gen";
import type { Store } from "../../store";
import { CodePage } from "../parts/CodePage";
import { CopyButton } from "../parts/CopyButton";
import { Expected } from "../parts/Expected";
import { Empty, Prose, Sentence } from "../parts/parts";
import { Word } from "../parts/Word";

interface Props {
  store: Store;
  program: Program;
}

const SIZES = 8;

/** A tick means that a check ran and passed; unchecked guarantees have their own colour. */
const JUDGED: { [state in ReleaseItem["state"]]: string } = {
  good: "accepted",
  bad: "refused",
  open: "unchecked",
  none: "unchecked",
};
const SIGNS = { good: "✓", bad: "✗", open: "?", none: "–" } as const;

export function Verify({ store, program }: Props) {
  const { verification } = program.record;
  const claim = store.release.value?.items.find(({ name }) => name === "verification");
  const state = claim?.state ?? "open";
  const doubted = store.release.value?.doubted ?? [];
  return (
    <section class="tx-panel" aria-label="Guarantees" data-testid="guarantees" data-pane>
      <div class="tx-scroll">
        <VerifyButton store={store} program={program} again={verification !== null} />
        {verification ? (
          <>
            <p
              class={`tx-judged tx-judged-${JUDGED[state]}`}
              role="status"
              data-testid="verification"
            >
              <span class="tx-mark" aria-hidden="true">
                {SIGNS[state]}
              </span>{" "}
              <strong>{capped(claim?.sentence ?? verification.sentence, 300)}</strong>{" "}
              {!store.took.value.has("Verifying") && (
                <span class="tx-lead">{verification.seconds.toFixed(1)} s</span>
              )}
            </p>
            <ul class="tx-guarantees">
              {worstFirst(verification.rows).map((row) => (
                <Guarantee
                  key={row.name}
                  store={store}
                  program={program}
                  row={row}
                  doubted={doubted.includes(row.name)}
                />
              ))}
            </ul>
          </>
        ) : (
          <Empty>
            {store.host.live
              ? "Not verified yet. Verify compares the program with the model at many sizes, checks " +
                "that it rejects all others, saves and loads, unflattens, exports and decomposes " +
                "it. Your model is unchanged."
              : "The program was not verified before this page was saved."}
          </Empty>
        )}
      </div>
    </section>
  );
}

/** Verify exports again, saves and loads: so many times as long as the export it can take. */
const MOST_EXPORTS = 12;

function VerifyButton({ store, program, again }: Props & { again: boolean }) {
  const [sizes, setSizes] = useState(SIZES);
  if (!store.host.live) return null;
  return (
    <div class="tx-filters">
      <button
        type="button"
        class="tx-button tx-primary"
        disabled={store.busy.value}
        data-testid="verify"
        onClick={() => void store.verify(sizes)}
      >
        {again ? "Verify again" : "Verify"}
      </button>
      <label>
        at{" "}
        <input
          type="number"
          class="tx-input tx-box"
          min={1}
          max={1000}
          value={sizes}
          aria-label="Number of sizes to compare with eager"
          onInput={(event) => {
            const wanted = event.currentTarget.valueAsNumber;
            if (Number.isInteger(wanted) && wanted > 0 && wanted <= 1000) setSizes(wanted);
          }}
        />{" "}
        sizes
      </label>
      {program.record.timing && (
        <Expected store={store} action="Verifying">
          up to {durationText(Math.max(MOST_EXPORTS * program.record.timing.capture, 1))} here; Stop
          leaves the program unchanged
        </Expected>
      )}
    </div>
  );
}

const ORDER: readonly GuaranteeRow["verdict"][] = [
  "broken",
  "not checked",
  "holds",
  "not applicable",
];

function worstFirst(rows: readonly GuaranteeRow[]): GuaranteeRow[] {
  return [...rows].sort((a, b) => ORDER.indexOf(a.verdict) - ORDER.indexOf(b.verdict));
}

const MARKS: { [verdict in GuaranteeRow["verdict"]]: string } = {
  holds: "✓",
  broken: "✗",
  "not applicable": "–",
  "not checked": "?",
};

interface GuaranteeProps extends Props {
  row: GuaranteeRow;
  /** Whether it held although a run or a finding shows that the program differs. */
  doubted: boolean;
}

function Guarantee({ store, program, row, doubted }: GuaranteeProps) {
  const verdict = doubted ? "not checked" : row.verdict;
  return (
    <li
      class={`tx-guarantee tx-guarantee-${verdict.replace(" ", "-")}`}
      data-testid={`guarantee-${row.name}`}
    >
      <div class="tx-guarantee-head">
        <span class="tx-mark" aria-hidden="true">
          {MARKS[verdict]}
        </span>
        <strong>{capped(row.claim, 200)}</strong>
        {verdict !== "holds" && (
          <Word cls="tx-badge" word={doubted ? "contradicted elsewhere" : verdict} />
        )}
      </div>
      <p>
        <Sentence
          store={store}
          program={program}
          text={row.sentence}
          node={row.node}
          origin="guarantees"
        />
      </p>
      <CodePage
        store={store}
        code={row.code}
        brief={verdict === "holds" || verdict === "not applicable"}
      />
      {row.report && (
        <div>
          <CopyButton text={() => row.report} label="Copy the report" />
        </div>
      )}
      {row.evidence.some((line) => line !== row.sentence) && (
        <details open={row.verdict === "broken"}>
          <summary>Evidence</summary>
          <ul>
            {row.evidence.map((line, index) => (
              <li key={index}>
                <Prose text={line} most={600} />
              </li>
            ))}
          </ul>
        </details>
      )}
    </li>
  );
}
