/** Ops that make NaN or infinities out of finite inputs, with the line and the inputs. */

import { counted } from "../../format";
import type { Program } from "../../program";
import type { Values } from "../../record.gen";
import type { Store } from "../../store";
import { madeNonFinite } from "../../values";
import { LineLink } from "../parts/LineLink";
import { More, NodeLink } from "../parts/parts";

const FEW = 5;

interface Props {
  store: Store;
  program: Program;
  values: Values;
}

export function NonFinite({ store, program, values }: Props) {
  const found = madeNonFinite(program, values);
  if (found.length === 0) return null;
  return (
    <ul class="tx-values-odd" data-testid="nonfinite">
      <More items={found} few={FEW}>
        {({ node, kind, count, inputs }) => (
          <li key={node}>
            <NodeLink store={store} program={program} node={node} origin="values" />{" "}
            <LineLink store={store} program={program} stack={program.stackIndex(node)} /> makes{" "}
            {counted(count, kind, kind)}
            {inputs.length > 0 && " of "}
            {inputs.map(({ node: input, text }, at) => (
              <span key={input}>
                {at > 0 && ", "}
                <NodeLink store={store} program={program} node={input} origin="values" /> ({text})
              </span>
            ))}
          </li>
        )}
      </More>
    </ul>
  );
}
