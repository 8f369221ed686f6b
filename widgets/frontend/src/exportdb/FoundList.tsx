/** Search results as a list of buttons: arrows move along it, one is open. */

import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";

interface FoundListProps<T> {
  label: string;
  items: readonly T[];
  /** The name of the one that is open. */
  opened: string;
  open: (name: string) => void;
  children: (item: T) => ComponentChildren;
}

export function FoundList<T extends { name: string }>(props: FoundListProps<T>) {
  const { label, items, opened, open, children } = props;
  const list = useRef<HTMLUListElement>(null);
  useEffect(() => keptInView(list.current), [opened]);
  const reachable = items.some(({ name }) => name === opened) ? opened : items[0]?.name;
  return (
    <ul ref={list} class="tx-found" aria-label={label} onKeyDown={onKeyDown}>
      {items.map((item) => (
        <li key={item.name}>
          <button
            type="button"
            class="tx-found-item"
            data-name={item.name}
            aria-current={item.name === opened ? "true" : undefined}
            tabIndex={item.name === reachable ? 0 : -1}
            onClick={() => open(item.name)}
          >
            {children(item)}
          </button>
        </li>
      ))}
    </ul>
  );
}

/** Brings the open item into view, also when the list shrinks because a page opens below. */
function keptInView(list: HTMLElement | null): (() => void) | undefined {
  if (!list) return;
  reveal(list);
  const observer = new ResizeObserver(() => reveal(list));
  observer.observe(list);
  return () => observer.disconnect();
}

/** Brings what is open into view, without moving the page around the list. */
function reveal(list: HTMLElement): void {
  const item = list.querySelector("[aria-current]")?.getBoundingClientRect();
  const box = list.getBoundingClientRect();
  if (!item) return;
  if (item.top < box.top) list.scrollTop += item.top - box.top;
  else if (item.bottom > box.bottom) list.scrollTop += item.bottom - box.bottom;
}

function onKeyDown(event: KeyboardEvent): void {
  const list = event.currentTarget as HTMLElement;
  const all = [...list.querySelectorAll<HTMLElement>("button")];
  const at = all.indexOf(event.target as HTMLElement);
  const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: all.length - 1 }[event.key];
  if (to === undefined) return;
  all[Math.min(Math.max(to, 0), all.length - 1)]?.focus();
  event.preventDefault();
  event.stopPropagation();
}
