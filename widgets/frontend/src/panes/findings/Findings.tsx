/** Findings of an export that succeeded: each with its place and its fix. */

import { capped } from "../../format";
import { nodeId, type Program } from "../../program";
import type { FindingRow } from "../../record.gen";
import type { Store } from "../../store";
import { bestFrame } from "../../user_frames";
import { FixCard } from "../failure/FixCard";
import { CodePage } from "../parts/CodePage";
import { GoToSource } from "../parts/GoToSource";
import { LineLink } from "../parts/LineLink";
import { Empty, Prose } from "../parts/parts";
import { Word } from "../parts/Word";

interface Props {
  store: Store;
  program: Program;
}

const VERIFY = " Verify checks whether it agrees with the model.";

export function Findings({ store, program }: Props) {
  const { findings, mode, not_looked_for: unknown } = program.record;
  const printed = program.record.printed
    ? " The program does not contain the model's print calls."
    : "";
  return (
    <section class="tx-panel" aria-label="Findings" data-testid="findings" data-pane>
      <div class="tx-scroll">
        {findings.length === 0 ? (
          <Empty>
            {unknown.length === 0
              ? "No findings: no value baked in, no state change lost, no size specialized " +
                `against your request.${printed}${store.host.live ? VERIFY : ""}`
              : "No findings among the kinds that were checked."}
          </Empty>
        ) : (
          <ul class="tx-findings">
            {findings.map((finding, index) => (
              <Finding key={index} store={store} program={program} finding={finding} />
            ))}
          </ul>
        )}
        {unknown.length > 0 && (
          <div class="tx-finding" data-testid="not-looked-for">
            <div class="tx-finding-head">
              <strong>Not checked</strong>
            </div>
            <p class="tx-lead">
              {mode === "loaded" || mode === "given"
                ? "These need the model, its source and the exported call:"
                : "These checks failed to run:"}
            </p>
            <ul>
              {unknown.map((heading) => (
                <li key={heading}>{capped(heading, 120)}</li>
              ))}
            </ul>
          </div>
        )}
      </div>
    </section>
  );
}

const BADGES: { [severity in FindingRow["severity"]]: string } = {
  wrong: "tx-badge tx-badge-bad",
  surprising: "tx-badge tx-badge-warn",
  note: "tx-badge",
};

function Finding({ store, program, finding }: Props & { finding: FindingRow }) {
  return (
    <li class={`tx-finding tx-finding-${finding.severity}`} data-testid="finding">
      <div class="tx-finding-head">
        <strong>{capped(finding.heading, 120)}</strong>
        <Word cls={BADGES[finding.severity]} word={finding.severity} />
        <LineLink store={store} program={program} stack={finding.stack} />
        <GoToSource
          store={store}
          program={program}
          place={bestFrame(program, program.stackAt(finding.stack))}
        />
        {finding.node >= 0 && (
          <button
            type="button"
            class="tx-link"
            title="Show this op in every pane"
            onClick={() =>
              store.select({ kind: "nodes", nodes: [nodeId(0, finding.node)] }, "findings")
            }
          >
            {capped(program.name(nodeId(0, finding.node)), 80)}
          </button>
        )}
      </div>
      <p>
        <Prose text={finding.sentence} />
      </p>
      <p class="tx-lead">
        <Prose text={finding.why} />
      </p>
      <CodePage store={store} code={finding.code} />
      {finding.card && (
        <ul class="tx-fix-list">
          <FixCard
            store={store}
            program={program}
            fix={finding.card}
            number={finding.fix}
            ticked={false}
          />
        </ul>
      )}
    </li>
  );
}
