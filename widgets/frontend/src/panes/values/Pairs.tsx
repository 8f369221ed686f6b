/** Two runs: where an error enters, and how it grows along the program. */

import { capped, numberText } from "../../format";
import { type NodeId, nodeId, type Program } from "../../program";
import type { ValuePairs } from "../../record.gen";
import type { Store } from "../../store";
import { errorsOf, type OpError } from "../../values";
import { LineLink } from "../parts/LineLink";
import { More, NodeLink, Prose } from "../parts/parts";
import { LeftOut } from "./LeftOut";

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
  const errors = errorsOf(pairs);
  const hasErrors = [...errors.values()].some(({ whole }) => whole > 0);
  const faults = pairs.faults.map(({ graph, node }) => nodeId(graph, node));
  const worst = pairs.worst ? nodeId(pairs.worst.graph, pairs.worst.node) : -1;
  return (
    <section aria-label="Two runs" data-testid="pairs">
      <h3 class="tx-pane-title">
        {capped(pairs.one, 60)} against {capped(pairs.other, 60)}
      </h3>
      <p class={pairs.agrees ? "tx-lead" : "tx-lead tx-run-bad"}>
        <Prose text={pairs.sentence} />
      </p>
      {hasErrors && <Waterfall store={store} program={program} errors={errors} />}
      {faults.length > 0 && (
        <ul class="tx-values-odd">
          <More items={faults} few={FEW}>
            {(node) => (
              <li key={node}>
                <NodeLink store={store} program={program} node={node} origin="values" />{" "}
                <LineLink store={store} program={program} stack={program.stackIndex(node)} /> adds{" "}
                {numberText(errors.get(node)?.own ?? 0)}
                {node === worst && ", the most"}; signal to noise{" "}
                {numberText(errors.get(node)?.sqnr ?? 0)} dB
              </li>
            )}
          </More>
        </ul>
      )}
      <LeftOut sentences={pairs.left_out} />
    </section>
  );
}

interface WaterfallProps {
  store: Store;
  program: Program;
  errors: ReadonlyMap<NodeId, OpError>;
}

/** Along the program, the error of each value (pale) and what its op adds (strong). */
function Waterfall({ store, program, errors }: WaterfallProps) {
  const step = WIDTH / Math.max(errors.size, 1);
  const high = (error: number): number =>
    error > 0 ? HEIGHT * Math.min(Math.max(1 + Math.log10(error) / DECADES, 0.02), 1) : 0;
  return (
    <figure class="tx-waterfall">
      <svg
        viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
        preserveAspectRatio="none"
        role="img"
        aria-label="Error of each value, in program order"
      >
        {[...errors].map(([node, { own, whole }], at) => (
          // biome-ignore lint/a11y/noStaticElementInteractions: the outline selects every op by key
          <g key={node} onClick={() => store.select({ kind: "nodes", nodes: [node] }, "values")}>
            <title>
              {capped(program.name(node), 80)}: {numberText(whole)} of its norm, {numberText(own)}{" "}
              of it by this op
            </title>
            <rect class="tx-waterfall-back" x={at * step} y={0} width={step} height={HEIGHT} />
            {[whole, own].map((error, which) => (
              <rect
                key={which}
                class={which === 0 ? "tx-waterfall-whole" : "tx-waterfall-own"}
                x={at * step}
                y={HEIGHT - high(error)}
                width={Math.max(step - 0.3, 0.3)}
                height={high(error)}
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
