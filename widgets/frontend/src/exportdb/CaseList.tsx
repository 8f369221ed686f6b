/** The cases that a search, a tag and a level leave. */

import type { Signal } from "@preact/signals";
import { capped, counted } from "../format";
import { Prose } from "../panes/parts/parts";
import type { ExportCase } from "../record.gen";
import { FoundList } from "./FoundList";
import { SearchBox } from "./SearchBox";
import type { LibraryStore } from "./store";

interface CaseListProps {
  store: LibraryStore;
  cases: readonly ExportCase[];
}

const LEVELS = ["supported", "not supported yet"];

export function CaseList({ store, cases }: CaseListProps) {
  const found = store.foundCases.value;
  const narrowed = found.length < cases.length;
  return (
    <section class="tx-library-list" aria-label="Cases" data-pane>
      <search class="tx-library-search">
        <SearchBox
          label="Search the cases: name, tags, description and source"
          query={store.query.cases.value}
          change={(query) => {
            store.query.cases.value = query;
          }}
        />
        <Choice label="Tag" all="All tags" chosen={store.tag} counts={tagCounts(cases)} />
        <Choice
          label="Support level"
          all="All levels"
          chosen={store.level}
          counts={LEVELS.map((level) => [
            level,
            cases.filter((each) => each.level === level).length,
          ])}
        />
        <output class="tx-lead" aria-live="polite">
          {narrowed
            ? `${found.length} of ${counted(cases.length, "case")}`
            : counted(cases.length, "case")}
          {narrowed && (
            <>
              {" · "}
              <button type="button" class="tx-more" onClick={() => store.clear("cases")}>
                show all
              </button>
            </>
          )}
        </output>
      </search>
      {found.length === 0 && (
        <p class="tx-empty">No matching cases. Try fewer words or a different tag.</p>
      )}
      <FoundList
        label="Cases found"
        items={found}
        opened={store.opened.cases.value}
        open={(name) => store.open("cases", name)}
      >
        {(each) => (
          <>
            <span class="tx-found-name">
              {capped(each.name, 80)}
              {store.edited.value.has(each.name) && <span class="tx-badge">edited</span>}
              {each.level !== "supported" && (
                <span class="tx-badge tx-badge-warn">not supported yet</span>
              )}
            </span>
            <span class="tx-found-title">
              <Prose text={each.title} most={160} />
            </span>
          </>
        )}
      </FoundList>
    </section>
  );
}

interface ChoiceProps {
  label: string;
  /** The label of no choice. */
  all: string;
  /** Empty for none. */
  chosen: Signal<string>;
  counts: readonly [value: string, count: number][];
}

/** One of some values, each with how many cases have it. */
function Choice({ label, all, chosen, counts }: ChoiceProps) {
  return (
    <select
      class="tx-input"
      aria-label={label}
      value={chosen.value}
      onChange={(event) => {
        chosen.value = event.currentTarget.value;
      }}
    >
      <option value="">{all}</option>
      {counts.map(([value, count]) => (
        <option key={value} value={value}>
          {value} ({count})
        </option>
      ))}
    </select>
  );
}

/** Pure: each tag and how many cases have it, the most first. */
export function tagCounts(cases: readonly ExportCase[]): [tag: string, count: number][] {
  const counts = new Map<string, number>();
  for (const tag of cases.flatMap((each) => each.tags)) {
    counts.set(tag, (counts.get(tag) ?? 0) + 1);
  }
  return [...counts].sort((one, other) => other[1] - one[1] || (one[0] < other[0] ? -1 : 1));
}
