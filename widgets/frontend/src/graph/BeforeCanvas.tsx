/** The earlier program, on its own canvas, synchronized with the graph of the program on screen. */

import { useLayoutEffect, useRef } from "preact/hooks";
import { useDomId } from "../dom_id";
import type { Store } from "../store";
import { Chosen } from "./Chosen";
import { listenToWheel, pointer } from "./pointer";
import type { GraphView } from "./view";

interface Props {
  store: Store;
  view: GraphView;
  hint: () => void;
  onKeyDown: (event: KeyboardEvent) => void;
}

export function BeforeCanvas({ store, view, hint, onKeyDown }: Props) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const chosen = useDomId();
  useLayoutEffect(() => {
    if (!canvas.current) return;
    const stopWheel = listenToWheel(canvas.current, view.stage, hint);
    const remove = view.addBefore(canvas.current);
    return () => {
      stopWheel();
      remove();
    };
  }, [view, hint]);
  // Both canvases show the same part of one scene at one size: what is at a point is the same too.
  return (
    <canvas
      ref={canvas}
      class="tx-canvas"
      tabIndex={0}
      role="listbox"
      aria-roledescription="graph"
      aria-label="The earlier program, synchronized with the later one. Arrow keys move between boxes. Diff lists the differences."
      aria-activedescendant={chosen}
      data-testid="graph-before"
      onKeyDown={onKeyDown}
      {...pointer(view)}
    >
      <Chosen id={chosen} store={store} />
    </canvas>
  );
}
