/** One kernel: its time, ops, lines, remarks and code. */

import { Fragment } from "preact";
import { capped, counted, durationText } from "../../format";
import { nodeId, type Program } from "../../program";
import type { Stages } from "../../record.gen";
import { isBackward, opsOfKernel, type Shown } from "../../stages";
import type { Store } from "../../store";
import { Fact, More, NodeLink, Prose } from "../parts/parts";

const FEW = 12;

interface Props {
  store: Store;
  program: Program;
  stages: Stages;
  number: number;
  /** How many kernels the selection has. */
  count: number;
  show: (shown: Shown) => void;
}

export function KernelFacts({ store, program, stages, number, count, show }: Props) {
  const kernel = stages.kernels[number];
  if (!kernel) return null;
  const remarks = stages.remarks.filter((each) => each.kernel === number);
  const ops = opsOfKernel(stages, kernel);
  return (
    <section class="tx-stage-kernel" aria-label="Kernel" data-testid="stage-kernel">
      <h3 class="tx-pane-title tx-mono">{capped(kernel.name, 200)}</h3>
      {count > 1 && <p class="tx-lead">The selection is computed by {counted(count, "kernel")}.</p>}
      <dl class="tx-facts">
        <Fact name="Time">
          {kernel.microseconds < 0
            ? "not measured"
            : `${durationText(kernel.microseconds / 1e6)} ± ${durationText(kernel.spread / 2e6)}`}
        </Fact>
        {stages.backward >= 0 && (
          <Fact name="Pass">{isBackward(stages, number) ? "backward" : "forward"}</Fact>
        )}
        {kernel.calls && <Fact name="Calls">{capped(kernel.calls, 120)}</Fact>}
        <Fact name="Ops">
          <More items={kernel.nodes} few={FEW}>
            {(node, index) => (
              <Fragment key={node}>
                {index > 0 && ", "}
                <NodeLink store={store} program={program} node={nodeId(0, node)} origin="stages" />
              </Fragment>
            )}
          </More>
        </Fact>
        {ops.length > 0 && (
          <Fact name={stages.graphs.at(-1)?.name === "runtime" ? "Runtime nodes" : "Post-grad ops"}>
            {capped(ops.join(", "), 400)}
          </Fact>
        )}
        <Fact name="Lines">
          {kernel.lines.map((line) => {
            const row = stages.lines[line];
            if (!row) return null;
            return (
              <div key={line}>
                <button
                  type="button"
                  class="tx-link"
                  disabled={row.file < 0}
                  onClick={() => store.goTo(row.file, row.line)}
                >
                  {capped(`${row.name}:${row.line}`, 120)}
                </button>{" "}
                <code>{capped(row.code, 120)}</code>
              </div>
            );
          })}
          {kernel.lines.length === 0 && "not known"}
        </Fact>
      </dl>
      {remarks.map((remark, index) => (
        <p key={index}>
          <Prose text={remark.text} most={400} />
        </p>
      ))}
      <div class="tx-filters">
        {kernel.code >= 0 && (
          <button
            type="button"
            class="tx-button"
            data-testid="stage-call"
            onClick={() => show({ kind: "code", number: kernel.code })}
          >
            Show its call
          </button>
        )}
        {kernel.body >= 0 && kernel.body !== kernel.code && (
          <button
            type="button"
            class="tx-button"
            onClick={() => show({ kind: "code", number: kernel.body })}
          >
            Show its code
          </button>
        )}
      </div>
    </section>
  );
}
