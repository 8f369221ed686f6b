/** The search box of a section. Down moves to the results, Escape empties it. */

interface SearchBoxProps {
  label: string;
  query: string;
  change: (query: string) => void;
}

export function SearchBox({ label, query, change }: SearchBoxProps) {
  const onKeyDown = (event: KeyboardEvent): void => {
    const input = event.currentTarget as HTMLElement;
    const list = input.closest(".tx-library-list");
    if (event.key === "Escape" && query) change("");
    else if (event.key === "ArrowDown" || event.key === "Enter") {
      list?.querySelector<HTMLElement>(".tx-found [tabindex='0']")?.focus();
    } else return;
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    <input
      type="search"
      class="tx-input"
      placeholder="Search  /"
      aria-label={label}
      data-search
      value={query}
      onInput={(event) => change(event.currentTarget.value)}
      onKeyDown={onKeyDown}
    />
  );
}
