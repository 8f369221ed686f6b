/** Running the program: the backends to run it with, and the results. */

import { useMemo, useRef } from "preact/hooks";
import type { Program } from "../../program";
import type { Store } from "../../store";
import { Empty } from "../parts/parts";
import { useFresh } from "../parts/useFresh";
import { Costs } from "./Costs";
import { RunForm } from "./RunForm";
import { RunTable } from "./RunTable";
import { groupsOf, resultsOf } from "./run_facts";

interface Props {
  store: Store;
  program: Program;
}

export function Runs({ store, program }: Props) {
  const { profile, runs } = program.record;
  const pane = useRef<HTMLDivElement>(null);
  useFresh(
    pane,
    useMemo(() => resultsOf(program.record), [program]),
  );
  return (
    <section class="tx-panel" aria-label="Runs" data-testid="runs" data-pane>
      <div ref={pane} class="tx-scroll">
        {store.host.live && <RunForm store={store} program={program} />}
        {profile && <Costs store={store} program={program} profile={profile} />}
        {groupsOf(runs).map(([title, rows]) => (
          <RunTable key={title} store={store} program={program} title={title} rows={rows} />
        ))}
        {runs.length === 0 && !profile && (
          <Empty>
            {store.host.live
              ? "Not run yet. Run calls the program with the backends you choose and compares " +
                "outputs, time and memory with the eager model. Profile measures each op and " +
                "colours the graph by it. Your model is unchanged and stays on its device."
              : "The program was not run before this page was saved."}
          </Empty>
        )}
      </div>
    </section>
  );
}
