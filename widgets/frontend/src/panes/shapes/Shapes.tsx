/** The Shapes pane: sizes to try, guards, dynamic sizes, and the timeline of the trace. */

import type { Program } from "../../program";
import type { Store } from "../../store";
import { Empty } from "../parts/parts";
import { Contracts } from "./Contracts";
import { GuardTable } from "./GuardTable";
import { Probe } from "./Probe";
import { SymbolTable } from "./SymbolTable";
import { Timeline } from "./Timeline";

interface Props {
  store: Store;
  program: Program;
}

export function Shapes({ store, program }: Props) {
  const { symbols, guards, mode, title } = program.record;
  // Trials and searches belong to one program.
  const key = title + store.current.value;
  return (
    <section class="tx-panel" aria-label="Shapes and guards" data-testid="shapes" data-pane>
      <div class="tx-scroll">
        {symbols.length === 0 && (
          <Empty>
            Every size is static. To make one dynamic, name it:{" "}
            <code>%export -d "x: batch, _" model(x)</code>
          </Empty>
        )}
        <Probe key={`probe ${key}`} store={store} program={program} />
        {guards.length > 0 && <GuardTable key={`guards ${key}`} store={store} program={program} />}
        {guards.length === 0 && symbols.length > 0 && (
          <p class="tx-lead">
            {mode === "loaded" || mode === "given"
              ? "A program does not store the lines of its guards. Guards that it checks on each call are listed under Try sizes."
              : "No guards: the code checks none of these sizes."}
          </p>
        )}
        {symbols.length > 0 && <SymbolTable store={store} program={program} />}
        <Contracts key={`contracts ${key}`} store={store} program={program} />
        <Timeline store={store} program={program} />
      </div>
    </section>
  );
}
