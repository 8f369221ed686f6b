/** Sizes of panes, remembered by the browser where it lets us. */

import { useState } from "preact/hooks";

export interface Sizes {
  /** Width of the outline, in CSS pixels. */
  left: number;
  /** Share of the width that the details take. */
  right: number;
  /** Share of the details' height that the facts take, above the texts. */
  facts: number;
  /** Share of the height that the graph takes, where there is one column. */
  upper: number;
  /** Height of the widget in CSS pixels; 0 for the height that fits the window. */
  height: number;
  /** 1 where the outline is to stay beside the graph; 0 where it folds into the search box. */
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

/** What was remembered, as far as it makes sense. */
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
