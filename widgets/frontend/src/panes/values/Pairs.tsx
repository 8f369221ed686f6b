/** Two runs: where an error enters, and how it grows along the program. */

import { capped, numberText } from "../../format";
import { nodeId, type Program } from "../../program";
import type { ValuePairs } from "../../record.gen";
import type { Store } from "../../store";
import { floatsOf } from "../../values";
import { LineLink } from "../parts/LineLink";
import { More, NodeLink, Prose } from "../parts/parts";

const FEW = 6;
const WIDTH = 400;
const HEIGHT = 60;
/** Errors from 10^-8 to 1 fill the height. */
const DECADES = 8;

interface Props {
  store: Store;
  program: Program;
  pairs: ValuePairs;
}

export function Pairs({ store, program, pairs }: Props) {
  const own = floatsOf(pairs.own);
  const whole = floatsOf(pairs.relative);
  const sqnr = floatsOf(pairs.sqnr);
  const ops = Array.from(pairs.partner).flatMap((partner, node) => (partner >= 0 ? [node] : []));
  return (
    <section aria-label="Two runs" data-testid="pairs">
      <h3 class="tx-pane-title">
        {capped(pairs.one, 60)} against {capped(pairs.other, 60)}
      </h3>
      <p class={pairs.agrees ? "tx-lead" : "tx-lead tx-run-bad"}>
        <Prose text={pairs.sentence} />
      </p>
      <Waterfall store={store} program={program} ops={ops} own={own} whole={whole} />
      {pairs.faults.length > 0 && (
        <ul class="tx-values-odd">
          <More items={pairs.faults} few={FEW}>
            {(node) => (
              <li key={node}>
                <NodeLink store={store} program={program} node={nodeId(0, node)} origin="values" />{" "}
                <LineLink
                  store={store}
                  program={program}
                  stack={program.stackIndex(nodeId(0, node))}
                />{" "}
                adds {numberText(own[node] ?? 0)}
                {node === pairs.worst && ", the most"}; signal to noise{" "}
                {numberText(sqnr[node] ?? 0)} dB
              </li>
            )}
          </More>
        </ul>
      )}
    </section>
  );
}

interface WaterfallProps {
  store: Store;
  program: Program;
  ops: readonly number[];
  own: Float32Array;
  whole: Float32Array;
}

/** Along the program, the error of each value (pale) and what its op adds (strong). */
function Waterfall({ store, program, ops, own, whole }: WaterfallProps) {
  const step = WIDTH / Math.max(ops.length, 1);
  const high = (error: number): number =>
    error > 0 ? HEIGHT * Math.min(Math.max(1 + Math.log10(error) / DECADES, 0.02), 1) : 0;
  return (
    <figure class="tx-waterfall">
      <svg
        viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
        preserveAspectRatio="none"
        role="img"
        aria-label="The error of each value along the program"
      >
        {ops.map((node, at) => (
          // biome-ignore lint/a11y/noStaticElementInteractions: the outline selects every op by key
          <g
            key={node}
            onClick={() => store.select({ kind: "nodes", nodes: [nodeId(0, node)] }, "values")}
          >
            <title>
              {capped(program.name(nodeId(0, node)), 80)}: {numberText(whole[node] ?? 0)} of its
              norm, {numberText(own[node] ?? 0)} of it by this op
            </title>
            <rect class="tx-waterfall-back" x={at * step} y={0} width={step} height={HEIGHT} />
            {[whole, own].map((errors, which) => (
              <rect
                key={which}
                class={which === 0 ? "tx-waterfall-whole" : "tx-waterfall-own"}
                x={at * step}
                y={HEIGHT - high(errors[node] ?? 0)}
                width={Math.max(step - 0.3, 0.3)}
                height={high(errors[node] ?? 0)}
              />
            ))}
          </g>
        ))}
      </svg>
      <figcaption>
        Error of each value (pale) and what its op adds (strong), in the order of execution; from
        1e-8 to 1 of the value's norm.
      </figcaption>
    </figure>
  );
}
