/** A failed export: the failure first, and next to it the graph traced so far. */

import { useSignalEffect } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { Failure } from "../panes/failure/Failure";
import type { Program } from "../program";
import type { Failure as FailureRecord } from "../record.gen";
import type { Store } from "../store";
import { Detail } from "./Details";
import { Guarded } from "./Guarded";
import { Tabs } from "./Tabs";

type Page = "failure" | "graph" | "source" | "shapes";

interface FailedProps {
  store: Store;
  program: Program;
  failure: FailureRecord;
  /** The panes of the graph as far as it got. */
  children: ComponentChildren;
}

export function Failed({ store, program, failure, children }: FailedProps) {
  const [page, setPage] = useState<Page>("failure");
  useSignalEffect(() => {
    if (store.place.value) setPage((now) => (now === "graph" ? now : "source"));
  });
  return (
    <Tabs label="Failure" tabs={pages(program)} open={page} choose={setPage}>
      {page === "graph" && children}
      {page === "source" && <Detail tab="source" store={store} program={program} />}
      {page === "shapes" && <Detail tab="shapes" store={store} program={program} />}
      {page === "failure" && (
        <Guarded name="What went wrong" program={program}>
          <Failure store={store} program={program} failure={failure} />
        </Guarded>
      )}
    </Tabs>
  );
}

/** Only what there is. */
function pages(program: Program): [Page, string][] {
  const { graphs, files, symbols, guards } = program.record;
  const found: [Page, string][] = [["failure", "What went wrong"]];
  if (graphs.length > 0) found.push(["graph", "Graph up to there"]);
  if (files.length > 0) found.push(["source", "Source"]);
  if (symbols.length + guards.length > 0) found.push(["shapes", "Shapes"]);
  return found;
}
