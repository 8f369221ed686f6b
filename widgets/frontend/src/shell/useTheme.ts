/** The theme of a view, kept while it is there. */

import type { RefObject } from "preact";
import { useEffect } from "preact/hooks";
import { onColourChange, onThemeChange } from "../graph/palette";
import { themeAt } from "./theme";

/** Keeps the root's theme that of what surrounds it. */
export function useTheme(element: RefObject<HTMLElement | null>): void {
  useEffect(() => {
    const root = element.current?.closest<HTMLElement>(".tx-root");
    if (!root) return;
    const update = (): void => {
      const theme = themeAt(root);
      if (root.dataset.txTheme !== theme) root.dataset.txTheme = theme;
    };
    update();
    const stops = [onThemeChange(update), onColourChange(root, update)];
    return () => {
      for (const stop of stops) stop();
    };
  }, [element]);
}
