/** Sizes of panes, remembered by the browser if it allows that. */

import { useState } from "preact/hooks";

export interface Sizes {
  /** Width of the outline, in CSS pixels. */
  left: number;
  /** Share of the width that the details take. */
  right: number;
  /** Share of the details' height that the facts take, above the texts. */
  facts: number;
  /** The graph's share of the height if there is one column. */
  upper: number;
  /** Height of the widget in CSS pixels; 0 for the height that fits the window. */
  height: number;
  /** 1 if the outline stays next to the graph; 0 if it folds into the search box. */
  outline: number;
  /** 1 where Source and Code are to be below the other details; 0 where they are tabs among them. */
  below: number;
}

export const DEFAULTS: Sizes = {
  left: 200,
  right: 0.42,
  facts: 0.52,
  upper: 0.58,
  height: 0,
  outline: 0,
  below: 0,
};

const KEY = "export-explorer.sizes";

/** The sizes, and how to change some of them. */
export function useSizes(): [Sizes, (change: Partial<Sizes>) => void] {
  const [sizes, setSizes] = useState(remembered);
  const change = (part: Partial<Sizes>): void => {
    setSizes((now) => {
      const next = { ...now, ...part };
      remember(next);
      return next;
    });
  };
  return [sizes, change];
}

/** The remembered sizes, as far as they make sense. */
export function remembered(): Sizes {
  try {
    const found: unknown = JSON.parse(localStorage.getItem(KEY) ?? "{}");
    const entries = Object.entries(found ?? {}).filter(
      ([key, value]) => key in DEFAULTS && Number.isFinite(value),
    );
    return { ...DEFAULTS, ...Object.fromEntries(entries) };
  } catch {
    return DEFAULTS; // no storage here, or something else's text in it
  }
}

function remember(sizes: Sizes): void {
  try {
    localStorage.setItem(KEY, JSON.stringify(sizes));
  } catch {
    // A host without storage: sizes last as long as the view.
  }
}
