/**
 * Ids for elements that ARIA connects. Several views, with separate bundles, may share a page:
 * Preact's `useId` repeats there.
 */

import { useMemo } from "preact/hooks";

/** An id of one drawn component that nothing else on the page has. */
export const useDomId = (): string => useMemo(freshId, []);

const views = new WeakMap<object, string>();

/** An id of one view, given its store. */
export function viewId(store: object): string {
  const known = views.get(store) ?? freshId();
  views.set(store, known);
  return known;
}

const freshId = (): string => `tx-${Math.random().toString(36).slice(2)}`;
