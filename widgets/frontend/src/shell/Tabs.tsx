/**
 * A row of tabs, of which one is open: arrows move along, Tab leaves. Tabs for which there is no
 * room are in a menu at its end; the open one is always in the row.
 */

import type { ComponentChildren, RefObject } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { useDomId } from "../dom_id";
import { capped } from "../format";
import { Popover } from "../Popover";
import type { TabStatus } from "../tab_status";

interface TabsProps<T extends string> {
  label: string;
  tabs: readonly (readonly [tab: T, name: string, means?: string])[];
  open: T;
  choose: (tab: T) => void;
  /** What is known of what a tab shows. */
  status?: (tab: T) => TabStatus | null;
  /** Content at the end of the row. */
  end?: ComponentChildren;
  /** The content of the open tab. */
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
  const list = useRef<HTMLDivElement>(null);
  const row = useRoom(list, tabs.map(([tab]) => `${tab} ${status?.(tab)?.count ?? ""}`).join());
  const shown = row ? fitting(names, row.widths, row.room, names.indexOf(open)) : new Set(names);
  const rest = tabs.filter(([tab]) => !shown.has(tab));
  return (
    <>
      <div class="tx-tabs">
        <div
          ref={list}
          class="tx-tab-list"
          role="tablist"
          aria-label={label}
          onKeyDown={tabKeys(names, open, choose)}
        >
          {tabs.map(([tab, name, means]) => {
            const known = status?.(tab);
            const words = known ? `${name}: ${capped(known.words, 200)}` : means;
            return (
              <button
                key={tab}
                type="button"
                class={`tx-tab${shown.has(tab) ? "" : " tx-tab-out"}`}
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
        {rest.length > 0 && (
          <Popover name="Other tabs" face={`+${rest.length}`}>
            {(close) =>
              rest.map(([tab, name, means]) => (
                <button
                  key={tab}
                  type="button"
                  class="tx-tab-other"
                  onClick={() => {
                    close();
                    choose(tab);
                  }}
                >
                  <span>{name}</span>
                  {means && <span class="tx-lead">{means}</span>}
                </button>
              ))
            }
          </Popover>
        )}
        {end}
      </div>
      <div id={id} class="tx-tab-panel" role="tabpanel" aria-labelledby={`${id}-${open}`}>
        {children}
      </div>
    </>
  );
}

interface Room {
  /** The width of the row, in pixels, and of each tab in it, with the space after it. */
  room: number;
  widths: readonly number[];
}

/** Measures a row of tabs again when its width or its texts change; null until it has a width. */
function useRoom(list: RefObject<HTMLElement | null>, texts: string): Room | null {
  const [row, setRow] = useState<Room | null>(null);
  useLayoutEffect(() => {
    const element = list.current?.parentElement;
    if (!element) return;
    const measure = (): void => {
      const row = list.current;
      if (!row) return; // the view was closed meanwhile
      const tabs = [...row.children] as HTMLElement[];
      const gap = Number.parseFloat(getComputedStyle(row).columnGap) || 0;
      const widths = tabs.map((tab) => tab.getBoundingClientRect().width + gap);
      const end = element.querySelector<HTMLElement>(".tx-tab-end")?.offsetWidth ?? 0;
      const room = element.clientWidth - end - 2 * PADDING;
      const isMeasured = room > 0 && widths.some((each) => each > gap);
      setRow((now) => {
        if (!isMeasured) return now; // hidden: a tab of the host that is not in front
        const same = now?.room === room && now.widths.join() === widths.join();
        return same ? now : { room, widths };
      });
    };
    measure();
    // In a separate frame: a change of layout within the callback would be reported as an error.
    const observer = new ResizeObserver(() => requestAnimationFrame(measure));
    observer.observe(element);
    return () => observer.disconnect();
  }, [list, texts]);
  return row;
}

const PADDING = 2;
/** The width of the button of the menu. */
const MENU = 44;

/** The tabs that fit into a row, in their order, the open one among them. Pure. */
export function fitting<T>(
  tabs: readonly T[],
  widths: readonly number[],
  room: number,
  open: number,
): Set<T> {
  const total = widths.reduce((sum, each) => sum + each, 0);
  if (total <= room) return new Set(tabs);
  let left = room - MENU - (widths[open] ?? 0);
  const shown = new Set<T>();
  for (const [at, tab] of tabs.entries()) {
    if (at !== open) left -= widths[at] ?? 0;
    if (at === open || left >= 0) shown.add(tab);
  }
  return shown;
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
    const tab = row.querySelectorAll<HTMLElement>("[role=tab]")[tabs.indexOf(next)];
    tab?.focus();
    // One that had no room in the row gets it with the next picture.
    if (!tab?.matches(":focus")) requestAnimationFrame(() => tab?.focus());
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
