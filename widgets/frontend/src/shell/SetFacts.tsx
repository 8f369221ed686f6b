/** Shared sizes and weights of a set of programs, mismatches, and generations. */

import { bytesText, capped, counted } from "../format";
import { CodePage } from "../panes/parts/CodePage";
import { Prose } from "../panes/parts/parts";
import type { ProgramSet, WeightRow } from "../record.gen";
import type { Store } from "../store";

const MOST_WEIGHTS = 200;

export function FindingsBetween({ store, set }: { store: Store; set: ProgramSet }) {
  return (
    <>
      <h3>Findings between programs</h3>
      <ul class="tx-strip-list">
        {set.findings.map((each, index) => (
          <li key={index}>
            <strong>
              {each.severity}: {each.heading}
            </strong>
            <p>
              <Prose text={each.sentence} most={600} />
            </p>
            <p class="tx-faint">
              <Prose text={each.why} most={600} />
            </p>
            <CodePage store={store} code={each.code} />
            {each.component >= 0 && each.node >= 0 && (
              <button
                type="button"
                class="tx-link"
                onClick={() => void store.showBetween(each.component, each.node)}
              >
                {capped(each.place || "show the op", 120)} in{" "}
                {capped(set.components[each.component]?.name ?? "", 60)}
              </button>
            )}
          </li>
        ))}
      </ul>
    </>
  );
}

export function SizesInCommon({ set }: { set: ProgramSet }) {
  return (
    <>
      <h3>Sizes in common</h3>
      <ul class="tx-strip-list">
        {set.symbols.map((shared, index) => (
          <li key={index}>
            <code>{capped(shared.name, 120)}</code>
            {shared.members.map((each, at) => (
              <div key={at} class="tx-faint">
                {capped(set.components[each.component]?.name ?? "", 60)}: {capped(each.name, 60)} in{" "}
                {each.range}
              </div>
            ))}
          </li>
        ))}
      </ul>
    </>
  );
}

const STATES: [state: WeightRow["state"], says: string][] = [
  ["different", "same name, different values"],
  ["duplicated", "equal, but stored separately"],
  ["shared", "shared"],
];

export function SharedWeights({ set }: { set: ProgramSet }) {
  return (
    <>
      <h3>Weights in common</h3>
      <p>
        {bytesText(set.shared_bytes)} saved by sharing
        {set.duplicated_bytes > 0 && `, ${bytesText(set.duplicated_bytes)} held more than once`}
      </p>
      {STATES.map(([state, says]) => {
        const rows = set.weights.filter((each) => each.state === state);
        if (rows.length === 0) return null;
        return (
          <details key={state} open={state === "different"}>
            <summary>
              {counted(rows.length, "weight")} {says}
            </summary>
            <ul class="tx-strip-list">
              {rows.slice(0, MOST_WEIGHTS).map((row, index) => (
                <li key={index}>
                  <code>{capped(row.names[0] ?? "", 160)}</code> {bytesText(row.bytes)}{" "}
                  <span class="tx-faint">
                    {row.holders.map((at) => set.components[at]?.name ?? "").join(", ")}
                  </span>
                </li>
              ))}
            </ul>
          </details>
        );
      })}
    </>
  );
}
