/** The theme of a view, kept while it is there. */

import type { RefObject } from "preact";
import { useEffect } from "preact/hooks";
import { onThemeChange } from "../graph/palette";
import { themeAt } from "./theme";

/** Keeps the root's theme that of what surrounds it. */
export function useTheme(element: RefObject<HTMLElement | null>): void {
  useEffect(() => {
    const root = element.current?.closest<HTMLElement>(".tx-root");
    if (!root) return;
    const update = (): void => {
      root.dataset.txTheme = themeAt(root);
    };
    update();
    return onThemeChange(update);
  }, [element]);
}
