/** Writes an attempt's changes into the user's code. Nothing if the page has no editor or no kernel. */

import type { Store } from "../../store";

interface Props {
  store: Store;
  /** Numbers of fixes of the attempt on screen, to be in it. */
  fixes: readonly number[];
  describedBy?: string;
}

export function WriteButton({ store, fixes, describedBy }: Props) {
  const write = store.editor.value?.write;
  if (!write) return null;
  return (
    <button
      type="button"
      class="tx-button"
      disabled={store.busy.value}
      title="Shows the change to your cell or file, and writes it once you accept"
      aria-describedby={describedBy}
      onClick={() => void write(fixes)}
    >
      Apply to my code…
    </button>
  );
}
