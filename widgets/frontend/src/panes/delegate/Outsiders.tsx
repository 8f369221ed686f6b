/** The ops outside: each with the backend's reason, your line, and the rule's text. */

import { nodeOfOp, nodesOfOps, type Outside, outsideBy } from "../../delegation";
import { capped, counted, countText, durationText } from "../../format";
import type { Program } from "../../program";
import type { DelegatedOp, Delegation } from "../../record.gen";
import type { Store } from "../../store";
import { bestFrame } from "../../user_frames";
import { FrameLink, shortFile } from "../parts/LineLink";
import { More, Prose } from "../parts/parts";

interface Props {
  store: Store;
  program: Program;
  delegation: Delegation;
}

const FEW = 12;
const FEW_PLACES = 4;

export function Outsiders({ store, program, delegation }: Props) {
  const rows = outsideBy(delegation);
  if (rows.length === 0) return null;
  return (
    <section aria-label="Outside" data-testid="delegate-outside">
      <h3 class="tx-pane-title">Outside, and why</h3>
      <ul class="tx-findings">
        <More items={rows} few={FEW}>
          {(row) => (
            <Reason
              key={`${row.op} ${row.reason}`}
              store={store}
              program={program}
              delegation={delegation}
              row={row}
            />
          )}
        </More>
      </ul>
      {delegation.ops.some((op) => op.missing_kernel) && (
        <p class="tx-lead" data-testid="delegate-unloadable">
          {capped(delegation.runtime, 120)} has no kernel for{" "}
          {capped(
            [...new Set(delegation.ops.map((op) => op.missing_kernel).filter(Boolean))].join(", "),
            300,
          )}
          : it cannot load the program.
        </p>
      )}
    </section>
  );
}

function Reason({ store, program, delegation, row }: Props & { row: Outside }) {
  const nodes = nodesOfOps(program, delegation, row.ops);
  const isLit = nodes.some((node) => store.lit.value.nodes.has(node));
  const rule = row.ops[0]?.rule;
  return (
    <li class={`tx-finding tx-finding-surprising${isLit ? " tx-lit" : ""}`} data-testid="outside">
      <div class="tx-finding-head">
        <button
          type="button"
          class="tx-link tx-mono"
          title="Select these ops in every pane"
          onClick={() => store.select({ kind: "nodes", nodes }, "delegate")}
        >
          {capped(row.op, 80)}
        </button>
        {row.ops.length > 1 && <span class="tx-badge">{counted(row.ops.length, "op")}</span>}
        {row.microseconds > 0 && (
          <span class="tx-badge">{durationText(row.microseconds / 1e6)}</span>
        )}
        {row.flops > 0 && <span class="tx-badge">{countText(row.flops)} FLOPs</span>}
      </div>
      <p>
        <Prose text={row.reason} most={400} />
      </p>
      <ul class="tx-delegate-places">
        <More items={placesOf(row.ops)} few={FEW_PLACES}>
          {(op) => (
            <li key={op.name}>
              <Place store={store} program={program} delegation={delegation} op={op} />{" "}
              <code>{capped(op.place.code, 120)}</code>{" "}
              {op.place.module && <span class="tx-lead">in {capped(op.place.module, 80)}</span>}
            </li>
          )}
        </More>
      </ul>
      {rule && (
        <details>
          <summary title={capped(rule.file)}>
            {capped(rule.name, 80)}, {capped(shortFile(rule.file), 80)}:{rule.line}
          </summary>
          <pre class="tx-text">{capped(rule.text, 1000)}</pre>
        </details>
      )}
    </li>
  );
}

/** One op of each line. */
function placesOf(ops: readonly DelegatedOp[]): DelegatedOp[] {
  const places = new Map(
    ops.map((op) => [`${op.place.file}:${op.place.line} ${op.place.module}`, op] as const),
  );
  return [...places.values()].filter(({ place }) => place.file || place.module);
}

/** The line as a link into Source, if the op on screen has one. */
function Place({ store, program, delegation, op }: Omit<Props, "row"> & { op: DelegatedOp }) {
  const node = nodeOfOp(program, delegation, op);
  const frame = node >= 0 ? bestFrame(program, program.stack(node)) : undefined;
  if (frame) return <FrameLink store={store} program={program} frame={frame} />;
  return <>{capped(op.place.file ? `${op.place.file}:${op.place.line}` : "", 120)}</>;
}
