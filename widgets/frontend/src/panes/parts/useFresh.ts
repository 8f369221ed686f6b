/** Scrolls a pane to the new result of an action, which may be out of view. */

import type { RefObject } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";

/**
 * Whenever one of the results has changed, or is new, brings its element to the top.
 *
 * @param pane what scrolls.
 * @param results the content of each element with `data-result`, by that attribute, compared as text.
 */
export function useFresh(
  pane: RefObject<HTMLElement | null>,
  results: ReadonlyMap<string, string>,
): void {
  const before = useRef(results);
  useLayoutEffect(() => {
    const fresh = changed(before.current, results);
    before.current = results;
    const found = [...(pane.current?.querySelectorAll<HTMLElement>("[data-result]") ?? [])];
    const element = found.find((each) => each.dataset.result === fresh);
    if (element) bringToTop(element);
  });
}

/** Scrolls the pane that an element is in until the element is at its top, or as near as can be. */
export function bringToTop(element: HTMLElement): void {
  const pane = element.closest(".tx-scroll");
  if (!pane) return;
  // Not scrollIntoView: that would also scroll the notebook.
  pane.scrollTop += element.getBoundingClientRect().top - pane.getBoundingClientRect().top;
}

/** The first result that is new or has changed. Pure. */
export function changed(
  before: ReadonlyMap<string, string>,
  now: ReadonlyMap<string, string>,
): string | undefined {
  return [...now.keys()].find((key) => now.get(key) !== before.get(key));
}
