/** A view joins the editor of its page: the store, as the editor sees it. */

import { reasonOf } from "../format";
import { startOf } from "../panes/source/source_start";
import type { Store } from "../store";
import { lineOf } from "../user_frames";
import { linesAround } from "./expression_lines";
import { type Editor, onEditor, type Place, type View } from "./link";
import { marksOf } from "./marks";

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
    store.editor.value = {
      open: (place) => said(store, () => editor.open(view, place).then(() => "")),
      write: store.host.live
        ? (fixes) => said(store, () => write(store, editor, view, fixes))
        : null,
    };
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
    text: (file) => textOf(store, file),
    follow: (place) => void follow(store, place),
    marks: () => {
      const program = store.program.peek();
      const marks = program ? marksOf(program) : [];
      return store.host.live ? marks : marks.map((each) => ({ ...each, fix: null }));
    },
    write: (fix) => void store.editor.peek()?.write?.([fix]),
    goToSource: () => goToSource(store),
    onChange: (callback) => store.program.subscribe(callback),
  };
}

async function textOf(store: Store, file: number): Promise<string> {
  const lines = await store.source(file);
  return lines.map((line) => line.map(([, text]) => text).join("")).join("\n");
}

/** Counts cursors, by view: one that was overtaken while a text was on its way marks nothing. */
const moves = new WeakMap<Store, number>();

/**
 * Marks the ops of the line that the cursor is on, or else of the expression that continues in
 * it, and clears earlier marks.
 */
async function follow(store: Store, place: Place | null): Promise<void> {
  const move = (moves.get(store) ?? 0) + 1;
  moves.set(store, move);
  const program = store.program.peek();
  const has = (line: number): boolean =>
    place !== null && (program?.nodesAt(place.file, line).length ?? 0) > 0;
  if (!place || has(place.line)) {
    return store.follow(place ? { kind: "line", ...place } : { kind: "none" });
  }
  const text = await textOf(store, place.file).catch(() => ""); // a text that is gone has no lines
  if (moves.get(store) !== move || store.program.peek() !== program) return;
  const line = linesAround(text, place.line).find(has);
  store.follow(line ? { kind: "line", file: place.file, line } : { kind: "none" });
}

/** Opens the line of the selection, or that of a failure. */
function goToSource(store: Store): void {
  const program = store.program.peek();
  if (!program) return;
  const chosen = lineOf(program, store.selection.peek(), store.lit.peek().nodes);
  const place = chosen ?? startOf(program);
  if (place) void store.editor.peek()?.open({ file: place.file, line: place.line });
  else store.say("No op of this program has a source line.", true);
}

/** Writes what the attempt on screen changed, and some fixes of it, into the user's code. */
async function write(
  store: Store,
  editor: Editor,
  view: View,
  fixes: readonly number[],
): Promise<string> {
  const attempt = store.current.peek();
  const names = await editor.write(
    view,
    await store.host.ask("writing", { attempt, fixes: [...fixes] }),
  );
  if (names.length === 0) return "";
  return `Written into ${names.join(" and ")}; undo in the editor reverts it. Run it and export again.`;
}

/** Does something in the editor; the view shows how it went, or why it was not done. */
async function said(store: Store, action: () => Promise<string>): Promise<void> {
  try {
    store.say(await action(), false);
  } catch (error) {
    store.say(reasonOf(error), true);
  }
}
