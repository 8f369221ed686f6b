/** Where the last click was, so that its result is shown there. */

import type { RefObject } from "preact";
import { useEffect, useRef } from "preact/hooks";

/** A place in the view, in CSS pixels from its upper left corner. */
export interface Spot {
  top: number;
  left: number;
  width: number;
}

/** A click that is longer ago than this did not begin what begins now. */
const RECENT_MS = 1000;
const GAP = 4;
/** The largest height of the content, and the least width at which it is readable. */
const HEIGHT = 48;
const NARROWEST = 280;

/** Finds the spot below a button that was just pressed, by pointer or key; null for none. */
export function useClicked(app: RefObject<HTMLElement | null>): () => Spot | null {
  const last = useRef<{ button: Element; at: number } | null>(null);
  useEffect(() => {
    const element = app.current;
    const onClick = ({ target }: Event): void => {
      const button = (target as Element).closest?.("button, [type=submit]");
      if (button) last.current = { button, at: performance.now() };
    };
    element?.addEventListener("click", onClick, true);
    return () => element?.removeEventListener("click", onClick, true);
  }, []);
  return () => {
    const { button, at } = last.current ?? { button: null, at: 0 };
    if (!button?.isConnected || !app.current || performance.now() - at > RECENT_MS) return null;
    return below(button, app.current);
  };
}

function below(button: Element, app: HTMLElement): Spot | null {
  const home = app.getBoundingClientRect();
  const pressed = button.getBoundingClientRect();
  const pane = button.closest("[data-pane], .tx-outcome, .tx-untrusted");
  if (!pane || pressed.width === 0) return null;
  const { left, width } = pane.getBoundingClientRect();
  const wide = Math.min(Math.max(width, NARROWEST), home.width);
  return {
    top: Math.min(pressed.bottom - home.top + GAP, home.height - HEIGHT),
    left: Math.max(Math.min(left - home.left, home.width - wide), 0),
    width: wide,
  };
}
