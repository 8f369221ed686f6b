/** The graph breaks that a search finds; the first of them until more are requested. */

import { useState } from "preact/hooks";
import { counted, grouped } from "../format";
import { Prose } from "../panes/parts/parts";
import { FoundList } from "./FoundList";
import { SearchBox } from "./SearchBox";
import type { LibraryStore } from "./store";

const FEW = 60;

export function BreakList({ store }: { store: LibraryStore }) {
  const [all, setAll] = useState(false);
  const found = store.foundPages.value;
  const shown = all ? found : found.slice(0, FEW);
  return (
    <section class="tx-library-list" aria-label="Graph breaks" data-pane>
      <search class="tx-library-search">
        <SearchBox
          label="Search the graph breaks: id, kind, explanation and hints"
          query={store.query.breaks.value}
          change={(query) => {
            store.query.breaks.value = query;
          }}
        />
        <output class="tx-lead" aria-live="polite">
          {counted(found.length, "graph break")}
        </output>
      </search>
      {found.length === 0 && <p class="tx-empty">No matching graph breaks. Try fewer words.</p>}
      <FoundList
        label="Graph breaks found"
        items={shown}
        opened={store.opened.breaks.value}
        open={(name) => store.open("breaks", name)}
      >
        {(each) => (
          <>
            <span class="tx-found-name">{each.name}</span>
            <span class="tx-found-title">
              <Prose text={each.title} most={160} />
            </span>
          </>
        )}
      </FoundList>
      {shown.length < found.length && (
        <button type="button" class="tx-more tx-found-more" onClick={() => setAll(true)}>
          {grouped(found.length - shown.length)} more
        </button>
      )}
    </section>
  );
}
