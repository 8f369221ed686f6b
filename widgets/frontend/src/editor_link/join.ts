/** A view joins the editor of its page: the store, as the editor sees it. */

import { reasonOf } from "../format";
import type { Store } from "../store";
import { type Editor, onEditor, type Place, type View } from "./link";

/**
 * Joins whatever editor the page has or gets. Returns how to leave.
 *
 * @param store of the view
 * @param element that the view is in
 * @param notebook tells the path of the notebook whose kernel made it; empty if not known
 */
export function joinEditor(store: Store, element: HTMLElement, notebook: () => string): () => void {
  let leave = (): void => {};
  const stop = onEditor((editor) => {
    leave();
    const view = asView(store, element, notebook);
    leave = editor.join(view);
    store.editor.value = { open: (place) => open(store, editor, view, place) };
  });
  return () => {
    stop();
    leave();
    store.editor.value = null;
  };
}

function asView(store: Store, element: HTMLElement, notebook: () => string): View {
  return {
    element,
    get notebook() {
      return notebook();
    },
    sources: () => store.program.peek()?.record.files ?? [],
    text: async (file) => {
      const lines = await store.source(file);
      return lines.map((line) => line.map(([, text]) => text).join("")).join("\n");
    },
    follow: (place) => follow(store, place),
  };
}

/** Marks the ops of the line that the cursor is on; what was marked so before is no longer. */
function follow(store: Store, place: Place | null): void {
  const has = place && (store.program.peek()?.nodesAt(place.file, place.line).length ?? 0) > 0;
  store.follow(has ? { kind: "line", ...place } : { kind: "none" });
}

async function open(store: Store, editor: Editor, view: View, place: Place): Promise<void> {
  try {
    await editor.open(view, place);
    store.say("");
  } catch (error) {
    store.say(reasonOf(error));
  }
}
