/** Facts about a node that only the program before has. */

import { capped } from "../../format";
import type { NodeId } from "../../program";
import type { Store } from "../../store";
import { Dotted, Fact } from "../parts/parts";

export function RemovedFacts({ store, node }: { store: Store; node: NodeId }) {
  const program = store.comparison.value?.before;
  if (!program) return null;
  const scope = program.record.scopes[program.scope(node)]?.path;
  const names = program.inputsOf(node).map((input) => program.name(input));
  return (
    <div class="tx-scroll" data-testid="inspector">
      <h3 class="tx-name">{capped(program.name(node), 300)}</h3>
      <p class="tx-lead">Only in the earlier program.</p>
      <dl class="tx-facts">
        <Fact name="Op">
          <span class="tx-mono">
            <Dotted name={program.target(node)?.name ?? program.op(node)} />
          </span>
        </Fact>
        <Fact name="Type">
          <span class="tx-mono">{capped(program.type(node)?.text ?? "")}</span>
        </Fact>
        {names.length > 0 && (
          <Fact name="Reads">
            <span class="tx-mono">{capped(names.join(", "), 300)}</span>
          </Fact>
        )}
        {scope && (
          <Fact name="Module">
            <span class="tx-mono">
              <Dotted name={scope} />
            </span>
          </Fact>
        )}
        <Fact name="Lines">
          {program.stack(node).map(({ file, line, function: fn }) => (
            <div key={`${file}:${line}`} class="tx-mono">
              {capped(program.record.files[file]?.name ?? "", 120)}:{line} {capped(fn, 80)}
            </div>
          ))}
        </Fact>
      </dl>
    </div>
  );
}
