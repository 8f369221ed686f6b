/** The statistics of every op, in the order of execution. */

import { grouped, numberText, shareText } from "../../format";
import { nodeId, type Program } from "../../program";
import type { OpValues, Values } from "../../record.gen";
import type { Store } from "../../store";
import { BINS, floatsOf } from "../../values";
import { More, RowButton } from "../parts/parts";
import { Bars } from "./Bars";

const FEW = 40;
const STD = 3;

interface Props {
  store: Store;
  program: Program;
  values: Values;
}

export function StatisticsTable({ store, program, values }: Props) {
  const rows = values.graphs.flatMap((each) => {
    const [low, high, mean, std, zeros] = [
      each.minimum,
      each.maximum,
      each.mean,
      each.std,
      each.zeros,
    ].map(floatsOf);
    return Array.from(each.runs, (runs, at) => ({
      node: nodeId(each.graph, at),
      runs,
      numbers: [low, high, mean, std].map((column) => column?.[at] ?? 0),
      zeros: zeros?.[at] ?? 0,
      odd: oddOf(each, at),
      none: oddOf(each, at) >= (each.count[at] ?? 0),
      bars: Array.from(each.histogram.subarray(at * BINS, (at + 1) * BINS)),
    })).filter(({ runs, node }) => runs > 0 && program.op(node) === "call_function");
  });
  return (
    <table class="tx-table tx-values-table" data-testid="statistics">
      <thead>
        <tr>
          <th>op</th>
          <th class="tx-number">min</th>
          <th class="tx-number">max</th>
          <th class="tx-number">mean</th>
          <th class="tx-number tx-values-more">std</th>
          <th class="tx-number">zeros</th>
          <th class="tx-number" title="NaN or infinite elements">
            NaN, inf
          </th>
          <th title="From the least to the greatest">histogram</th>
        </tr>
      </thead>
      <tbody>
        <More items={rows} few={FEW}>
          {({ node, runs, numbers, zeros, odd, none, bars }) => (
            <tr
              key={node}
              class="tx-pressable"
              onClick={() => store.select({ kind: "nodes", nodes: [node] }, "values")}
            >
              <td class="tx-mono tx-clip">
                <RowButton>{program.name(node)}</RowButton>
                {runs > 1 && (
                  <span
                    class="tx-values-times"
                    title={`${grouped(runs)} runs of this op, combined`}
                  >
                    {" "}
                    ×{grouped(runs)}
                  </span>
                )}
              </td>
              {numbers.map((number, at) => (
                <td key={at} class={`tx-number${at === STD ? " tx-values-more" : ""}`}>
                  {none ? "–" : numberText(number)}
                </td>
              ))}
              <td class="tx-number">{zeros > 0 ? shareText(zeros) : ""}</td>
              <td class="tx-number tx-run-bad">{odd > 0 ? grouped(odd) : ""}</td>
              <td>
                <Bars bars={bars} />
              </td>
            </tr>
          )}
        </More>
      </tbody>
    </table>
  );
}

/** How many elements are NaN or infinite. */
function oddOf(values: OpValues, at: number): number {
  return (values.nans[at] ?? 0) + (values.infs[at] ?? 0);
}
