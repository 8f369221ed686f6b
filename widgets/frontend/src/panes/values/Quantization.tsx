/** Quantized ops: how, the bytes saved, the errors, and the ops that stayed in float. */

import { bytesText, capped, counted, numberText } from "../../format";
import { type NodeId, nodeId, type Program } from "../../program";
import { tensorText, weightText } from "../../quantization";
import type { Quantization as Quantized } from "../../record.gen";
import type { Store } from "../../store";
import { errorsOf } from "../../values";
import { More, NodeLink, Prose } from "../parts/parts";
import { meaningOf } from "../parts/Word";

const FEW = 20;

interface Props {
  store: Store;
  program: Program;
  quantization: Quantized;
}

export function Quantization({ store, program, quantization }: Props) {
  const { layers, in_float, bytes, float_bytes, unread_bytes } = quantization;
  const { pairs } = program.record;
  const errors = pairs && errorsOf(pairs);
  const cost = (node: number): string => {
    const error = errors?.get(nodeId(0, node));
    return error ? `${numberText(error.own)}, ${numberText(Math.round(error.sqnr))} dB` : "";
  };
  return (
    <section aria-label="Quantization" data-testid="quantization">
      <h3 class="tx-pane-title">Quantization</h3>
      <p class="tx-lead">
        {counted(layers.length, "quantized op")}. Weights and buffers take {bytesText(bytes)}; in
        float {bytesText(float_bytes)}.
        {unread_bytes > 0 && ` ${bytesText(unread_bytes)} more are stored but unused.`}
      </p>
      <table class="tx-table tx-values-table">
        <thead>
          <tr>
            <th>layer</th>
            <th>quantized</th>
            <th>bytes</th>
            {pairs && (
              <th title={`Against ${capped(pairs.other, 60)}. ${meaningOf("SQNR")}`}>adds, SQNR</th>
            )}
          </tr>
        </thead>
        <tbody>
          <More items={layers} few={FEW}>
            {({ node, result, tensors }) => (
              <tr key={node}>
                <td>
                  <Place store={store} program={program} node={nodeId(0, node)} />
                </td>
                <td>
                  {tensors.map((each, at) => (
                    <div key={at}>
                      {each.role} {capped(tensorText(each), 160)}
                    </div>
                  ))}
                </td>
                <td class="tx-number">{weightText(tensors)}</td>
                {pairs && <td class="tx-number">{cost(result)}</td>}
              </tr>
            )}
          </More>
        </tbody>
      </table>
      {in_float.length > 0 && (
        <>
          <h4>In float</h4>
          <ul class="tx-values-odd" data-testid="in-float">
            <More items={in_float} few={FEW}>
              {({ node, why }) => (
                <li key={node}>
                  <Place store={store} program={program} node={nodeId(0, node)} />:{" "}
                  <Prose text={why} />
                </li>
              )}
            </More>
          </ul>
        </>
      )}
    </section>
  );
}

/** An op by its module, if it has one. */
function Place({ store, program, node }: { store: Store; program: Program; node: NodeId }) {
  const path = program.record.scopes[program.scope(node)]?.path;
  return (
    <>
      <NodeLink store={store} program={program} node={node} origin="values" />
      {path && <span class="tx-muted"> {capped(path, 80)}</span>}
    </>
  );
}
