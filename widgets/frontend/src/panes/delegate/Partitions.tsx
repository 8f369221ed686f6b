/** The partitions, the ops that split them, and the quantize ops that were left between them. */

import { nodesOfOps, opsOnTensors } from "../../delegation";
import { bytesText, capped, counted, countText, durationText } from "../../format";
import type { Program } from "../../program";
import type { DelegatedOp, Delegation, Partition } from "../../record.gen";
import type { Store } from "../../store";
import { More, Prose, RowButton } from "../parts/parts";

interface Props {
  store: Store;
  program: Program;
  delegation: Delegation;
}

const FEW = 8;

export function Partitions({ store, program, delegation }: Props) {
  const { partitions, splits, pairs } = delegation;
  const named = new Map(delegation.ops.map((op) => [op.name, op]));
  const select = (ops: readonly DelegatedOp[]): void =>
    store.select({ kind: "nodes", nodes: nodesOfOps(program, delegation, ops) }, "delegate");
  const isMeasured = partitions.some(({ microseconds }) => microseconds >= 0);
  const left = pairs.filter((each) => !each.is_folded);
  return (
    <>
      {partitions.length > 0 && (
        <section aria-label="Partitions" data-testid="delegate-partitions">
          <h3 class="tx-pane-title">Partitions</h3>
          <table class="tx-table tx-histogram">
            <thead>
              <tr>
                <th>partition</th>
                <th class="tx-number">ops</th>
                <th class="tx-number">FLOPs</th>
                {isMeasured && <th class="tx-number">time</th>}
                <th class="tx-number">in</th>
                <th class="tx-number">out</th>
              </tr>
            </thead>
            <tbody>
              <More items={partitions} few={FEW}>
                {(each) => (
                  <tr
                    key={each.number}
                    class="tx-pressable"
                    onClick={() =>
                      select(opsOnTensors(delegation).filter((op) => op.partition === each.number))
                    }
                  >
                    <td>
                      <RowButton>
                        {each.number} {capped(each.name, 60)}
                      </RowButton>
                    </td>
                    <td class="tx-number">{each.ops}</td>
                    <td class="tx-number">{countText(each.flops)}</td>
                    {isMeasured && (
                      <td class="tx-number" title={innerText(each)}>
                        {durationText(Math.max(each.microseconds, 0) / 1e6)}
                      </td>
                    )}
                    <td class="tx-number">{bytesText(each.bytes_in)}</td>
                    <td class="tx-number">{bytesText(each.bytes_out)}</td>
                  </tr>
                )}
              </More>
            </tbody>
          </table>
        </section>
      )}
      {splits.length > 0 && (
        <section aria-label="Ops that split partitions" data-testid="delegate-splits">
          <h3 class="tx-pane-title">Ops that split partitions</h3>
          <ul class="tx-delegate-places">
            <More items={splits} few={FEW}>
              {(split) => {
                const ops = split.ops.flatMap((name) => named.get(name) ?? []);
                const kinds = [
                  ...new Set(ops.filter(({ kind }) => kind === "tensor").map(({ op }) => op)),
                ];
                return (
                  <li key={`${split.before} ${split.after}`}>
                    {split.before} and {split.after}:{" "}
                    <button type="button" class="tx-link tx-mono" onClick={() => select(ops)}>
                      {capped(kinds.join(", ") || "ops on sizes", 200)}
                    </button>
                  </li>
                );
              }}
            </More>
          </ul>
        </section>
      )}
      {pairs.length > 0 && (
        <section aria-label="Quantize ops" data-testid="delegate-pairs">
          <h3 class="tx-pane-title">Quantize and dequantize ops</h3>
          <p class="tx-lead">
            {pairs.length - left.length} of {counted(pairs.length, "op")} are folded into the
            delegate.
          </p>
          <ul class="tx-delegate-places">
            <More items={left} few={FEW}>
              {(pair) => (
                <li key={pair.name}>
                  <button
                    type="button"
                    class="tx-link tx-mono"
                    onClick={() =>
                      select(named.has(pair.name) ? [named.get(pair.name) as DelegatedOp] : [])
                    }
                  >
                    {capped(pair.op, 100)}
                  </button>
                  : <Prose text={pair.reason || "the backend reports no reason"} most={300} />
                </li>
              )}
            </More>
          </ul>
        </section>
      )}
    </>
  );
}

/** The delegate's own ops with their times. */
const innerText = ({ inner }: Partition): string =>
  capped(
    inner
      .map(({ name, microseconds }) => `${name}: ${durationText(microseconds / 1e6)}`)
      .join("\n"),
    1000,
  );
