/** The outline's search: the query, the number of matches, and steps through them. */

import { counted, grouped } from "../../format";
import type { Program } from "../../program";
import { SearchInput } from "./SearchInput";

interface SearchBarProps {
  program: Program;
  /** Whether the tree of modules and ops is folded away, and what unfolds it. */
  folded: boolean;
  fold: ((folds: boolean) => void) | null;
  query: string;
  /** Why the query finds nothing; empty if it is valid. */
  problem: string;
  change: (query: string) => void;
  /** The rows that are results, in order. */
  results: readonly number[];
  /** Which of the results is the current one; -1 for none. */
  at: number;
  /** Goes to a row. */
  go: (row: number) => void;
  selectAll: () => void;
}

export function SearchBar(props: SearchBarProps) {
  const { program, folded, fold, query, problem, change, results, at, go, selectAll } = props;
  const step = (by: 1 | -1): void => {
    const start = at < 0 && by < 0 ? 0 : at;
    const row = results[(start + by + results.length) % results.length];
    if (row !== undefined) go(row);
  };
  const searching = query.trim() !== "";
  const none = results.length === 0;
  return (
    <search class="tx-search">
      <div class="tx-search-line">
        {fold && (
          <button
            type="button"
            class="tx-button"
            data-tab="outline"
            title={folded ? "Outline: modules and ops as a tree" : "Fold the outline"}
            aria-label="Outline"
            aria-expanded={!folded}
            onClick={() => {
              if (searching) change("");
              fold(!folded);
            }}
          >
            ☰
          </button>
        )}
        <SearchInput
          program={program}
          query={query}
          change={change}
          problem={problem}
          step={step}
        />
      </div>
      {problem && (
        <p class="tx-query-problem" role="status">
          {problem}
        </p>
      )}
      {searching && !problem && (
        <div class="tx-search-found">
          <output aria-live="polite">
            {at < 0
              ? counted(results.length, "match", "matches")
              : `${at + 1} of ${grouped(results.length)}`}
          </output>
          <button
            type="button"
            class="tx-button"
            title="Previous (Shift+Enter)"
            aria-label="Previous match"
            disabled={none}
            onClick={() => step(-1)}
          >
            ↑
          </button>
          <button
            type="button"
            class="tx-button"
            title="Next (Enter)"
            aria-label="Next match"
            disabled={none}
            onClick={() => step(1)}
          >
            ↓
          </button>
          <button
            type="button"
            class="tx-button"
            title="Select every match: the graph and the source light up"
            disabled={none}
            onClick={selectAll}
          >
            Select all
          </button>
        </div>
      )}
    </search>
  );
}
