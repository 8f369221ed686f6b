/** Opens a line in the editor of the page. Nothing if the page has no editor. */

import { capped } from "../../format";
import type { Program } from "../../program";
import type { Place } from "../../selection";
import type { Store } from "../../store";

interface Props {
  store: Store;
  program: Program;
  place: Place | undefined;
}

export function GoToSource({ store, program, place }: Props) {
  const editor = store.editor.value;
  const file = place && program.record.files[place.file];
  if (!editor || !place || !file || file.origin === "generated") return null;
  const what = `Go to source: ${capped(file.name, 100)}:${place.line}`;
  return (
    <button
      type="button"
      class="tx-more tx-go"
      title={what}
      aria-label={what}
      onClick={(event) => {
        event.stopPropagation();
        void editor.open({ file: place.file, line: place.line });
      }}
    >
      ↗
    </button>
  );
}
