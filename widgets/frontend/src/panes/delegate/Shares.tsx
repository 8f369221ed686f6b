/** How much of a program a backend takes: by ops, FLOPs and time, and by kind of op. */

import {
  byKind,
  measuredShare,
  nodesOfOps,
  opsOnTensors,
  type Share,
  shareBy,
  timeShare,
} from "../../delegation";
import { bytesText, capped, counted, countText, durationText, shareText } from "../../format";
import type { Program } from "../../program";
import type { Delegation } from "../../record.gen";
import type { Store } from "../../store";
import { Fact, More, RowButton } from "../parts/parts";

interface Props {
  store: Store;
  program: Program;
  delegation: Delegation;
}

const FEW = 6;

export function Shares({ store, program, delegation }: Props) {
  const ops = opsOnTensors(delegation);
  const byOps = shareBy(ops, () => 1);
  const byFlops = shareBy(ops, ({ flops }) => flops ?? 0);
  const measured = measuredShare(delegation);
  const byTime = measured ?? timeShare(program, delegation);
  const { partitions, counted: own } = delegation;
  const stage = store.delegatedStage(delegation.title);
  const parent = delegation.is_stage
    ? (store.attempts.value[store.current.value]?.parent ?? -1)
    : -1;
  const crossing = partitions.reduce((all, each) => all + each.bytes_in + each.bytes_out, 0);
  return (
    <section aria-label="Share" data-testid="delegate-shares">
      <h3 class="tx-pane-title">
        {capped(delegation.title, 60)} takes {byOps.inside} of {counted(byOps.total, "op")}
      </h3>
      <div class="tx-filters">
        {stage >= 0 && (
          <button
            type="button"
            class="tx-button"
            data-testid="show-delegated"
            title="The lowered program: partitions are boxes that open"
            onClick={() => void store.show(stage)}
          >
            Show the delegated stage
          </button>
        )}
        {parent >= 0 && (
          <button type="button" class="tx-button" onClick={() => void store.show(parent)}>
            Back to the program
          </button>
        )}
      </div>
      <dl class="tx-facts">
        <Fact name="Ops">
          <Bar share={byOps} text={`${byOps.inside}`} />
        </Fact>
        {byFlops.total > 0 && (
          <Fact name="FLOPs">
            <Bar share={byFlops} text={countText(byFlops.inside)} />
          </Fact>
        )}
        {byTime && byTime.total > 0 && (
          <Fact name="Time">
            <Bar share={byTime} text={durationText(byTime.inside / 1e6)} />{" "}
            <span class="tx-lead">
              {measured
                ? `of ${durationText(delegation.call / 1e6)} per call, with ExecuTorch here`
                : "of the profile, op by op in eager"}
            </span>
          </Fact>
        )}
        <Fact name="Partitions">
          {partitions.length}
          {crossing > 0 && `; ${bytesText(crossing)} cross their edges`}
        </Fact>
        <Fact name="Lowered by">
          {capped(delegation.version, 200)} in {durationText(delegation.seconds)}
        </Fact>
        {own && (
          <Fact name="ExecuTorch counts">
            {own.inside} inside, {own.outside} outside, calls on sizes included
          </Fact>
        )}
      </dl>
      {delegation.notes.map((note) => (
        <p key={note} class="tx-lead">
          {capped(note, 400)}
        </p>
      ))}
      <details>
        <summary>By kind of op</summary>
        <table class="tx-table tx-histogram">
          <tbody>
            <More items={byKind(delegation)} few={FEW}>
              {(kind) => (
                <tr
                  key={kind.op}
                  class="tx-pressable"
                  onClick={() =>
                    store.select(
                      { kind: "nodes", nodes: nodesOfOps(program, delegation, kind.ops) },
                      "delegate",
                    )
                  }
                >
                  <td class="tx-mono tx-clip">
                    <RowButton>{capped(kind.op, 120)}</RowButton>
                  </td>
                  <td class="tx-number">
                    {kind.inside} of {kind.total}
                  </td>
                  <td class="tx-bar-cell">
                    <div
                      class="tx-bar"
                      style={{ width: `${(100 * kind.inside) / Math.max(kind.total, 1)}%` }}
                    />
                  </td>
                </tr>
              )}
            </More>
          </tbody>
        </table>
      </details>
    </section>
  );
}

function Bar({ share, text }: { share: Share; text: string }) {
  const part = share.inside / Math.max(share.total, 1e-9);
  return (
    <span class="tx-share">
      <span class="tx-share-bar" aria-hidden="true">
        <span style={{ width: `${100 * part}%` }} />
      </span>{" "}
      {shareText(part)} <span class="tx-lead">{text} inside</span>
    </span>
  );
}
