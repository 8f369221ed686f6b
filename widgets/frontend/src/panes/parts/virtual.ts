/** Which rows of a long list are in view, so that only those are in the page. */

import { useEffect, useRef, useState } from "preact/hooks";

const SPARE = 12;

export interface Window {
  first: number;
  last: number;
}

/** The rows to render, with some to spare above and below. Pure. */
export function rowsInView(top: number, height: number, rowHeight: number, count: number): Window {
  const first = Math.max(Math.floor(top / rowHeight) - SPARE, 0);
  const last = Math.min(Math.ceil((top + height) / rowHeight) + SPARE, count);
  return { first: Math.min(first, last), last };
}

/** Whether a row is in the page: only then may anything name it. Pure. */
export const isDrawn = ({ first, last }: Window, row: number): boolean =>
  row >= first && row < last;

/**
 * Follows an element's scrolling, while it is `shown`. `scrollTo` brings a row into view, moving as little as
 * it can.
 */
export function useVirtual(rowHeight: number, count: number, shown = true) {
  const element = useRef<HTMLDivElement>(null);
  const [range, setRange] = useState<Window>(() => rowsInView(0, 600, rowHeight, count));
  useEffect(() => {
    const target = element.current;
    if (!target) return;
    const update = (): void =>
      setRange(rowsInView(target.scrollTop, target.clientHeight, rowHeight, count));
    update();
    target.addEventListener("scroll", update, { passive: true });
    const observer = new ResizeObserver(update);
    observer.observe(target);
    return () => {
      target.removeEventListener("scroll", update);
      observer.disconnect();
    };
  }, [rowHeight, count, shown]);
  const scrollTo = (row: number): void => {
    const target = element.current;
    if (!target || row < 0) return;
    const top = row * rowHeight;
    const hidden =
      top < target.scrollTop || top + rowHeight > target.scrollTop + target.clientHeight;
    if (hidden) target.scrollTop = top - target.clientHeight / 3;
  };
  return { element, range, scrollTo };
}
