/** The outline's search: what is looked for, how much was found, and the way through it. */

import { counted } from "../../format";

interface SearchBarProps {
  query: string;
  change: (query: string) => void;
  /** The rows that are results, in order. */
  results: readonly number[];
  /** Which of the results is the current one; -1 for none. */
  at: number;
  /** Goes to a row. */
  go: (row: number) => void;
  selectAll: () => void;
}

export function SearchBar({ query, change, results, at, go, selectAll }: SearchBarProps) {
  const step = (by: 1 | -1): void => {
    const start = at < 0 && by < 0 ? 0 : at;
    const row = results[(start + by + results.length) % results.length];
    if (row !== undefined) go(row);
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.key === "Enter") step(event.shiftKey ? -1 : 1);
    else if (event.key === "Escape" && query) change("");
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  const searching = query.trim() !== "";
  const none = results.length === 0;
  return (
    <search class="tx-search">
      <input
        type="search"
        placeholder="Search  ( / )"
        aria-label="Search ops and modules by name, kind, class, type or line"
        title="A name, an op, a module, a class, a type like f32[*, 64] or a line like model.py:12"
        data-search
        value={query}
        onInput={(event) => change(event.currentTarget.value)}
        onKeyDown={onKeyDown}
      />
      {searching && (
        <div class="tx-search-found">
          <output aria-live="polite">
            {at >= 0 && `${at + 1} of `}
            {counted(results.length, "match", "matches")}
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
