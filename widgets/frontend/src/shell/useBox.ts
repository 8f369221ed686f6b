/** The size of an element on the page, as it changes. */

import type { RefObject } from "preact";
import { useEffect, useState } from "preact/hooks";

export interface Box {
  width: number;
  height: number;
}

/** Until it is measured, a size that fits a notebook's cell. */
const GUESS: Box = { width: 1000, height: 560 };

export function useBox(element: RefObject<HTMLElement | null>): Box {
  const [box, setBox] = useState(GUESS);
  useEffect(() => {
    const target = element.current;
    if (!target) return;
    const measure = (): void => {
      const { clientWidth: width, clientHeight: height } = target;
      if (width === 0 || height === 0) return; // hidden: a tab of the host that is not in front
      setBox((now) => (now.width === width && now.height === height ? now : { width, height }));
    };
    measure();
    // In a separate frame: a change of layout within the callback would be reported as an error.
    const observer = new ResizeObserver(() => requestAnimationFrame(measure));
    observer.observe(target);
    return () => observer.disconnect();
  }, [element]);
  return box;
}
