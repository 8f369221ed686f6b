/** The search box: a field that completes queries. */

import { useRef, useState } from "preact/hooks";
import { useDomId } from "../../dom_id";
import type { Program } from "../../program";
import { prepareSearch } from "../../search";
import { type Suggestion, suggestions } from "./suggestions";

/** A field with its own list: only for the platform's list is the role implied. */
const COMBOBOX = { role: "combobox", list: undefined } as const;

interface SearchInputProps {
  program: Program;
  query: string;
  change: (query: string) => void;
  /** Why the query finds nothing; empty if it is valid. */
  problem: string;
  /** Goes to the next result, or back. */
  step: (by: 1 | -1) => void;
}

export function SearchInput({ program, query, change, problem, step }: SearchInputProps) {
  const input = useRef<HTMLInputElement>(null);
  const list = useDomId();
  const [caret, setCaret] = useState(-1);
  const [chosen, setChosen] = useState(-1);
  const offered = caret < 0 ? [] : suggestions(program, query, caret);
  const close = (): void => {
    setCaret(-1);
    setChosen(-1);
  };
  const take = (suggestion: Suggestion): void => {
    change(suggestion.text);
    setCaret(suggestion.caret);
    setChosen(-1);
    requestAnimationFrame(() => {
      input.current?.focus();
      input.current?.setSelectionRange(suggestion.caret, suggestion.caret);
    });
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    const one = offered[chosen];
    const first = offered[Math.max(chosen, 0)];
    if (event.key === "ArrowDown" && offered.length > 0) setChosen((chosen + 1) % offered.length);
    else if (event.key === "ArrowUp" && offered.length > 0) {
      setChosen((Math.max(chosen, 0) - 1 + offered.length) % offered.length);
    } else if (event.key === "Tab" && first && !event.shiftKey) take(first);
    else if (event.key === "Enter" && one) take(one);
    else if (event.key === "Enter") step(event.shiftKey ? -1 : 1);
    else if (event.key === "Escape" && offered.length > 0) close();
    else if (event.key === "Escape" && query) change("");
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    <>
      <input
        ref={input}
        type="search"
        {...COMBOBOX}
        {...{ "aria-expanded": offered.length > 0 }}
        placeholder="Search  /"
        aria-label="Search ops and modules by name, kind, class, type or line, or by a query"
        title="A name, an op, a module, a class, a type like f32[*, 64], a line like model.py:12; or op:linear & rank > 2"
        aria-invalid={problem !== ""}
        aria-autocomplete="list"
        aria-controls={list}
        aria-activedescendant={chosen >= 0 ? `${list}-${chosen}` : undefined}
        data-search
        value={query}
        onInput={({ currentTarget }) => {
          change(currentTarget.value);
          setCaret(currentTarget.selectionStart ?? -1);
          setChosen(-1);
        }}
        onFocus={() => prepareSearch(program)}
        onBlur={close}
        onKeyDown={onKeyDown}
      />
      {offered.length > 0 && (
        <div id={list} class="tx-offered" role="listbox" aria-label="Completions">
          {offered.map((each, at) => (
            // biome-ignore lint/a11y/useKeyWithClickEvents: the field has the keys
            <div
              key={each.shown}
              id={`${list}-${at}`}
              role="option"
              aria-selected={at === chosen}
              tabIndex={-1}
              onPointerDown={(event) => event.preventDefault()}
              onClick={() => take(each)}
            >
              <code>{each.shown}</code> <span class="tx-muted">{each.means}</span>
            </div>
          ))}
        </div>
      )}
    </>
  );
}
