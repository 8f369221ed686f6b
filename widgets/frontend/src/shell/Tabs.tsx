/** A row of tabs, two where they need it, of which one is open: arrows move along, Tab leaves. */

import type { ComponentChildren } from "preact";
import { useDomId } from "../dom_id";
import { capped } from "../format";
import type { TabStatus } from "../tab_status";

interface TabsProps<T extends string> {
  label: string;
  tabs: readonly (readonly [tab: T, name: string])[];
  open: T;
  choose: (tab: T) => void;
  /** What is known of what a tab shows. */
  status?: (tab: T) => TabStatus | null;
  /** What stands at the end of the row. */
  end?: ComponentChildren;
  /** What the open tab shows. */
  children: ComponentChildren;
}

export function Tabs<T extends string>({
  label,
  tabs,
  open,
  choose,
  status,
  end,
  children,
}: TabsProps<T>) {
  const id = useDomId();
  const names = tabs.map(([tab]) => tab);
  return (
    <>
      <div class="tx-tabs">
        <div
          class="tx-tab-list"
          role="tablist"
          aria-label={label}
          onKeyDown={tabKeys(names, open, choose)}
        >
          {tabs.map(([tab, name]) => {
            const known = status?.(tab);
            const words = known ? `${name}: ${capped(known.words, 200)}` : undefined;
            return (
              <button
                key={tab}
                type="button"
                class="tx-tab"
                role="tab"
                id={`${id}-${tab}`}
                data-tab={tab}
                aria-controls={tab === open ? id : undefined}
                aria-selected={tab === open}
                tabIndex={tab === open ? 0 : -1}
                title={words}
                onClick={() => choose(tab)}
              >
                {name}
                {known && known.tone !== "open" && " "}
                {known && (
                  <span class={`tx-tab-count tx-tab-status-${known.tone}`}>{known.count}</span>
                )}
              </button>
            );
          })}
        </div>
        {end}
      </div>
      <div id={id} class="tx-tab-panel" role="tabpanel" aria-labelledby={`${id}-${open}`}>
        {children}
      </div>
    </>
  );
}

/** The keys of a row of tabs: the tab that an arrow leads to opens, and has the focus. */
export function tabKeys<T>(tabs: readonly T[], open: T, choose: (tab: T) => void) {
  return (event: KeyboardEvent): void => {
    const next = neighbour(tabs, open, event.key);
    if (next === undefined) return;
    event.preventDefault();
    event.stopPropagation();
    choose(next);
    const row = event.currentTarget as HTMLElement;
    row.querySelectorAll<HTMLElement>("[role=tab]")[tabs.indexOf(next)]?.focus();
  };
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
