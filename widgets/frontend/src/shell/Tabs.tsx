/** A row of tabs, two where they need it, of which one is open: arrows move along, Tab leaves. */

import { useRef } from "preact/hooks";
import { capped } from "../format";
import type { TabStatus } from "../tab_status";

interface TabsProps<T extends string> {
  label: string;
  tabs: readonly (readonly [tab: T, name: string])[];
  open: T;
  choose: (tab: T) => void;
  /** What is known of what a tab shows. */
  status?: (tab: T) => TabStatus | null;
}

export function Tabs<T extends string>({ label, tabs, open, choose, status }: TabsProps<T>) {
  const row = useRef<HTMLDivElement>(null);
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
    <div ref={row} class="tx-tabs" role="tablist" aria-label={label} onKeyDown={onKeyDown}>
      {tabs.map(([tab, name]) => {
        const known = status?.(tab);
        const words = known ? `${name}: ${capped(known.words, 200)}` : undefined;
        return (
          <button
            key={tab}
            type="button"
            class="tx-tab"
            role="tab"
            data-tab={tab}
            aria-selected={tab === open}
            tabIndex={tab === open ? 0 : -1}
            title={words}
            onClick={() => choose(tab)}
          >
            {name}
            {known && " "}
            {known && <span class={`tx-tab-count tx-tab-status-${known.tone}`}>{known.count}</span>}
          </button>
        );
      })}
    </div>
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
