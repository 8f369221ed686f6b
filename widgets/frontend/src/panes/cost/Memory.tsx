/** Live memory over the program, with its peak and the tensors alive there. */

import { useMemo } from "preact/hooks";
import type { CostAt, CostModel } from "../../cost";
import { bytesText, shareText } from "../../format";
import { nodeId } from "../../program";
import type { Store } from "../../store";
import { bestFrame } from "../../user_frames";
import { FrameLink } from "../parts/LineLink";
import { More, NodeLink } from "../parts/parts";

interface Props {
  store: Store;
  model: CostModel;
  at: CostAt;
}

const WIDTH = 400;
const HEIGHT = 96;
const FEW = 6;

export function Memory({ store, model, at }: Props) {
  const { program } = model;
  const alive = useMemo(() => model.aliveAtNode(at, at.peak), [model, at]);
  if (at.peak < 0) return null;
  const peak = nodeId(0, at.peak);
  const inside = at.peakBytes - alive.reduce((sum, { bytes }) => sum + bytes, 0);
  return (
    <section aria-label="Live memory" data-testid="cost-memory">
      <h3 class="tx-pane-title">Live memory</h3>
      <p class="tx-lead">
        Peak {bytesText(at.peakBytes)} at{" "}
        <NodeLink store={store} program={program} node={peak} origin="cost" />, in addition to
        weights and inputs.
      </p>
      <Curve alive={at.alive} peak={at.peak} text={`Peak ${bytesText(at.peakBytes)}`} />
      <table class="tx-table tx-histogram tx-alive">
        <caption>Alive at the peak</caption>
        <tbody>
          {inside > 0 && (
            <tr>
              <td class="tx-clip">inside the op</td>
              <td class="tx-number">{bytesText(inside)}</td>
              <td class="tx-number">{shareText(inside / at.peakBytes)}</td>
            </tr>
          )}
          <More items={alive} few={FEW}>
            {({ node, bytes }) => {
              const frame = bestFrame(program, program.stack(node));
              return (
                <tr key={node}>
                  <td class="tx-mono tx-clip">
                    <div class="tx-alive-op">
                      <NodeLink store={store} program={program} node={node} origin="cost" />
                      {frame && <FrameLink store={store} program={program} frame={frame} />}
                    </div>
                  </td>
                  <td class="tx-number">{bytesText(bytes)}</td>
                  <td class="tx-number">{shareText(bytes / at.peakBytes)}</td>
                </tr>
              );
            }}
          </More>
        </tbody>
      </table>
    </section>
  );
}

interface CurveProps {
  alive: Float64Array;
  peak: number;
  text: string;
}

/** The curve as steps; of a long program the most in each column is drawn. */
function Curve({ alive, peak, text }: CurveProps) {
  const columns = Math.min(alive.length, WIDTH);
  const most = Math.max(Number(alive[peak]), 1);
  const y = (bytes: number): string => (HEIGHT - (HEIGHT * bytes) / most).toFixed(1);
  const x = (column: number): string => ((WIDTH * column) / columns).toFixed(1);
  let path = `M0 ${HEIGHT}`;
  for (let column = 0; column < columns; column++) {
    const from = Math.floor((column * alive.length) / columns);
    const to = Math.max(Math.floor(((column + 1) * alive.length) / columns), from + 1);
    let here = 0;
    for (let at = from; at < to; at++) here = Math.max(here, Number(alive[at]));
    path += `V${y(here)}H${x(column + 1)}`;
  }
  const at = (WIDTH * (peak + 0.5)) / alive.length;
  return (
    <svg
      class="tx-memory-curve"
      viewBox={`0 -8 ${WIDTH} ${HEIGHT + 8}`}
      preserveAspectRatio="none"
      role="img"
      aria-label={`Live bytes over the program. ${text}, ${shareText(at / WIDTH)} of the way`}
    >
      <path d={`${path}V${HEIGHT}Z`} />
      <path class="tx-memory-peak" d={`M${at} -8V${HEIGHT}`} vector-effect="non-scaling-stroke" />
    </svg>
  );
}
