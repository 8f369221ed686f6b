/** A row of tabs, of which one is open: arrows move along it, Tab leaves it. */

import { useLayoutEffect, useRef } from "preact/hooks";
import { useBox } from "./useBox";

interface TabsProps<T extends string> {
  label: string;
  tabs: readonly (readonly [tab: T, name: string])[];
  open: T;
  choose: (tab: T) => void;
}

export function Tabs<T extends string>({ label, tabs, open, choose }: TabsProps<T>) {
  const row = useRef<HTMLDivElement>(null);
  const { width } = useBox(row);
  const over = (row.current?.scrollWidth ?? 0) > width;
  // Where the row is too narrow for all, the open one and some of its neighbours are in view.
  useLayoutEffect(() => {
    const tab = row.current?.querySelector<HTMLElement>(`[data-tab="${open}"]`);
    if (row.current && tab) row.current.scrollLeft += beyond(row.current, tab);
  }, [open, tabs.length, width]);
  const onKeyDown = (event: KeyboardEvent): void => {
    const next = neighbour(
      tabs.map(([tab]) => tab),
      open,
      event.key,
    );
    if (next === undefined) return;
    event.preventDefault();
    event.stopPropagation();
    choose(next);
    row.current?.querySelector<HTMLElement>(`[data-tab="${next}"]`)?.focus();
  };
  return (
    <div
      ref={row}
      class={over ? "tx-tabs tx-tabs-over" : "tx-tabs"}
      role="tablist"
      aria-label={label}
      onKeyDown={onKeyDown}
    >
      {tabs.map(([tab, name]) => (
        <button
          key={tab}
          type="button"
          class="tx-tab"
          role="tab"
          data-tab={tab}
          aria-selected={tab === open}
          tabIndex={tab === open ? 0 : -1}
          onClick={() => choose(tab)}
        >
          {name}
        </button>
      ))}
    </div>
  );
}

const PEEK = 32;

/** How far to scroll a row to the right for a tab, and a bit of what stands beside it, to be in view. */
function beyond(row: HTMLElement, tab: HTMLElement): number {
  const [outer, inner] = [row.getBoundingClientRect(), tab.getBoundingClientRect()];
  return (
    Math.max(inner.right + PEEK - outer.right, 0) || Math.min(inner.left - PEEK - outer.left, 0)
  );
}

/** The tab that a key leads to; undefined for other keys. Pure. */
export function neighbour<T>(tabs: readonly T[], open: T, key: string): T | undefined {
  const at = tabs.indexOf(open);
  switch (key) {
    case "ArrowLeft":
      return tabs[(at - 1 + tabs.length) % tabs.length];
    case "ArrowRight":
      return tabs[(at + 1) % tabs.length];
    case "Home":
      return tabs[0];
    case "End":
      return tabs.at(-1);
    default:
      return undefined;
  }
}
