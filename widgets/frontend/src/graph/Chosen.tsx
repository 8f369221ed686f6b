/** The selection, as the only item that a screen reader finds in a graph's canvas. */

import { spoken } from "../spoken_selection";
import type { Store } from "../store";

export function Chosen({ id, store }: { id: string; store: Store }) {
  const program = store.program.value;
  const words = program && spoken(program, store.selection.value, store.lit.value.nodes);
  return (
    // biome-ignore lint/a11y/useFocusableInteractive: the canvas has the focus, and is named by it
    <div id={id} role="option" aria-selected={words ? true : undefined}>
      {words || "Nothing is selected"}
    </div>
  );
}
