/** The values of every op in one run, and two runs side by side. */

import { bytesText, capped, durationText } from "../../format";
import type { Program } from "../../program";
import { graphOf, indexOf } from "../../program";
import type { Store } from "../../store";
import { Expected, exportTime } from "../parts/Expected";
import { Empty } from "../parts/parts";
import { useAnswer } from "../parts/useAnswer";
import { LeftOut } from "./LeftOut";
import { NonFinite } from "./NonFinite";
import { Pairs } from "./Pairs";
import { Quantization } from "./Quantization";
import { StatisticsTable } from "./StatisticsTable";
import { TensorView } from "./TensorView";

const OTHERS: [string, string][] = [
  ["eager", "eager"],
  ["decomposed", "its decomposition"],
  ["bfloat16", "bfloat16"],
  ["float16", "float16"],
  ["float64", "float64"],
];

interface Props {
  store: Store;
  program: Program;
}

export function Values({ store, program }: Props) {
  const { values, pairs, quantization } = program.record;
  const selection = store.selection.value;
  const [node = -1, more] = selection.kind === "nodes" ? selection.nodes : [];
  const one = node >= 0 && more === undefined && store.host.live;
  const graph = graphOf(node);
  const ran = values?.graphs.find((each) => each.graph === graph)?.runs[indexOf(node)] ?? 0;
  const partners = pairs?.graphs.find((each) => each.graph === graph)?.partner;
  const paired = (partners?.[indexOf(node)] ?? -1) >= 0;
  return (
    <section class="tx-panel" aria-label="Values" data-testid="values" data-pane>
      <div class="tx-scroll tx-values">
        {store.host.live && <Actions store={store} program={program} />}
        {!values && !pairs && (
          <Empty>
            {store.host.live
              ? "Nothing was recorded yet. Watch runs the program once, op by op, and records range, " +
                "mean, zeros, NaN and more of each value. Compare also runs a second program or a " +
                "backend that exposes values, and names the op where an error starts. Your model " +
                "is unchanged."
              : "This page was saved without values. `save(path, values=True)` keeps the statistics " +
                "of a run that was watched."}
          </Empty>
        )}
        {one && (ran > 0 || paired) && (
          <TensorView key={node} store={store} program={program} node={node} paired={paired} />
        )}
        {quantization && (
          <Quantization store={store} program={program} quantization={quantization} />
        )}
        {pairs && <Pairs store={store} program={program} pairs={pairs} />}
        {values && (
          <>
            <h3 class="tx-pane-title">Statistics</h3>
            <p class="tx-lead">
              {durationText(values.seconds)} op by op on {values.device}, {values.inputs}; values
              held at most {bytesText(values.memory)} at one time.{" "}
              {store.host.live
                ? "Select an op to compute its tensor again. Files leave these numbers out, unless saved with values=True."
                : "This page stores these numbers, but no tensors."}
            </p>
            <LeftOut sentences={values.left_out} />
            <NonFinite store={store} program={program} values={values} />
            <StatisticsTable store={store} program={program} values={values} />
          </>
        )}
      </div>
    </section>
  );
}

/** The steps of comparing values with another run, and their time. */
function comparingText(other: string, program: Program): string {
  if (other === "decomposed") return `decomposes first, ${exportTime(program)}, then two runs`;
  if (OTHERS.some(([value]) => value === other)) return "two runs, op by op: seconds";
  return "prepares the backend first, tens of seconds, then two runs";
}

function Actions({ store, program }: Props) {
  const other = store.against.value;
  const answer = useAnswer(() => store.setups(), [store]);
  const backends = (answer.kind === "there" ? answer.value.backends : []).filter(
    ({ missing, without_values }) => missing[0] === null && without_values === null,
  );
  const busy = store.busy.value;
  return (
    <div class="tx-filters">
      <button
        type="button"
        class="tx-button tx-primary"
        disabled={busy}
        data-testid="watch"
        onClick={() => void store.watch()}
      >
        Watch a run
      </button>
      <span class="tx-pair">
        <button
          type="button"
          class="tx-button"
          disabled={busy}
          data-testid="compare-values"
          onClick={() => void store.compareValues(other)}
        >
          Compare values
        </button>
        <label>
          with{" "}
          <select
            class="tx-input"
            value={other}
            data-testid="against"
            style={{ maxWidth: "9em" }}
            onChange={(event) => {
              store.against.value = event.currentTarget.value;
            }}
          >
            {OTHERS.map(([value, name]) => (
              <option key={value} value={value}>
                {name}
              </option>
            ))}
            {backends.map(({ name, title }) => (
              <option key={name} value={name}>
                {capped(title, 60)}
              </option>
            ))}
          </select>
        </label>
      </span>
      <span class="tx-lead">
        Watch:{" "}
        <Expected store={store} action="Watching a run">
          one run, op by op: seconds
        </Expected>{" "}
        · Compare:{" "}
        <Expected store={store} action="Comparing values">
          {comparingText(other, program)}
        </Expected>{" "}
        · Stop at any time
      </span>
    </div>
  );
}
