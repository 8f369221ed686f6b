/** Two compilations of the program: the ops and kernels that changed in each stage, and the time. */

import { useMemo } from "preact/hooks";
import { capped, durationText } from "../../format";
import { type ChangeKind, diffStages, type KernelChange } from "../../ladder/stages_diff";
import type { Stages } from "../../record.gen";
import { linesText, nodesOfKernels } from "../../stages";
import type { Store } from "../../store";
import { More, RowButton } from "../parts/parts";

const FEW = 12;
const FEW_CALLS = 6;

interface Props {
  store: Store;
  before: Stages;
  after: Stages;
}

export function Changes({ store, before, after }: Props) {
  const diff = useMemo(() => diffStages(before, after), [before, after]);
  const changed = diff.kernels.filter(({ kind }) => kind !== "same");
  const same = diff.kernels.length - changed.length;
  const [old, now] = [before.times?.kernels, after.times?.kernels];
  const select = (change: KernelChange): void => {
    const nodes = [
      ...nodesOfKernels(before, change.before),
      ...nodesOfKernels(after, change.after),
    ];
    const [kernel = -1] = change.after;
    store.selectKernel(kernel, { kind: "nodes", nodes: [...new Set(nodes)] });
  };
  return (
    <section aria-label="Changes" data-testid="stage-changes">
      <h3 class="tx-pane-title">Changes</h3>
      <dl class="tx-facts">
        {diff.graphs.map(({ name, before: had, after: has, calls }) => (
          <>
            <dt>{name}</dt>
            <dd>
              {had} → {has} ops{" "}
              <span class="tx-lead">
                {calls
                  .slice(0, FEW_CALLS)
                  .map(([target, more]) => `${signed(more)} ${capped(target, 60)}`)
                  .join(", ")}
                {calls.length > FEW_CALLS && `, ${calls.length - FEW_CALLS} more`}
              </span>
            </dd>
          </>
        ))}
        <dt>kernels</dt>
        <dd>
          {before.kernels.length} → {after.kernels.length}{" "}
          <span class="tx-lead">{same > 0 && `${same} groups are the same`}</span>
        </dd>
        {old !== undefined && now !== undefined && (
          <>
            <dt>Their time</dt>
            <dd>
              {durationText(old / 1e6)} → {durationText(now / 1e6)}
            </dd>
          </>
        )}
      </dl>
      {changed.length > 0 && (
        <table class="tx-table tx-histogram">
          <tbody>
            <More items={changed} few={FEW}>
              {(change, index) => (
                <tr
                  key={index}
                  class="tx-pressable"
                  title={capped(namesOf(before, after, change), 600)}
                  onClick={() => select(change)}
                >
                  <td class="tx-kind">{WORDS[change.kind]}</td>
                  <td class="tx-clip">
                    <RowButton>{capped(namesOf(before, after, change), 200)}</RowButton>
                    <div class="tx-lead tx-clip">{linesOf(before, after, change)}</div>
                  </td>
                  <td class="tx-number">{timeOf(change)}</td>
                </tr>
              )}
            </More>
          </tbody>
        </table>
      )}
    </section>
  );
}

const WORDS: { [kind in ChangeKind]: string } = {
  same: "same",
  merged: "merged",
  split: "split",
  regrouped: "regrouped",
  appeared: "new",
  gone: "gone",
};

const signed = (count: number): string => (count > 0 ? `+${count}` : `−${-count}`);

const timeOf = ({ microseconds }: KernelChange): string => {
  if (microseconds === null) return "–";
  const sign = microseconds < 0 ? "−" : "+";
  return `${sign}${durationText(Math.abs(microseconds) / 1e6)}`;
};

/** `addmm:1 + gelu:2 → gemm:1`. */
function namesOf(before: Stages, after: Stages, change: KernelChange): string {
  const names = ({ kernels }: Stages, numbers: readonly number[]): string =>
    numbers.map((number) => kernels[number]?.name ?? "").join(" + ");
  return [names(before, change.before), names(after, change.after)].filter(Boolean).join(" → ");
}

function linesOf(before: Stages, after: Stages, change: KernelChange): string {
  const [stages, numbers] =
    change.after.length > 0 ? [after, change.after] : [before, change.before];
  const lines = new Set(numbers.flatMap((number) => stages.kernels[number]?.lines ?? []));
  return linesText(stages, [...lines]);
}
