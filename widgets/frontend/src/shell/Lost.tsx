/** Tells that the view's kernel is gone, what still works, and how to continue. */

import { capped } from "../format";
import type { Program } from "../program";
import type { Store } from "../store";

export function Lost({ store, program }: { store: Store; program: Program | null }) {
  const why = store.lost.value;
  if (!why) return null;
  const still = program
    ? `this view is a static picture of ${capped(program.record.title, 200)}`
    : "there is nothing to show";
  return (
    <p class="tx-lost" role="status" data-testid="lost">
      {why}: {still}. Run the cell again to go on.
    </p>
  );
}
