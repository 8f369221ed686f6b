/** Commands of JupyterLab's palette; each is about the view that was last used. */

import type { Documents } from "./documents";
import type { NotebookPanel, Tracker } from "./editor_modules";
import type { LabEditor } from "./lab_editor";
import type { App } from "./shared_modules";
import type { Squiggles } from "./squiggles";

export interface Palette {
  addItem(item: { command: string; category: string }): unknown;
}

interface Parts {
  editor: LabEditor;
  documents: Documents;
  notebooks: Tracker<NotebookPanel>;
  squiggles: Squiggles;
}

const CATEGORY = "Export Explorer";

export function addCommands(app: App, palette: Palette | null, parts: Parts): void {
  const { editor } = parts;
  const add = (id: string, label: string, enabled: () => boolean, execute: () => unknown): void => {
    const command = `export-explorer:${id}`;
    app.commands.addCommand(command, {
      label: palette ? label : `${CATEGORY}: ${label}`,
      isEnabled: enabled,
      execute,
    });
    palette?.addItem({ command, category: CATEGORY });
  };
  const hasView = (): boolean => editor.last !== null;
  add("go-to-source", "Go to Source", hasView, () => editor.last?.goToSource());
  add(
    "apply-fix",
    "Apply the Fix of This Cell to My Code",
    () => fixHere(parts) !== null,
    () => fixHere(parts)?.(),
  );
  add("own-tab", "Open the View in Its Own Tab", hasView, () => ownTab(app, parts));
}

/** The fix of the first squiggle of the active cell that has one. */
function fixHere({ notebooks, squiggles }: Parts): (() => void) | null {
  const panel = notebooks.currentWidget;
  const cell = panel?.content.widgets[panel.content.activeCellIndex];
  if (!cell) return null;
  return squiggles.in(cell.model.sharedModel).find(({ fix }) => fix !== null)?.fix ?? null;
}

/** JupyterLab's own view of a cell's output: it follows the cell when that runs again. */
async function ownTab(app: App, { editor, documents }: Parts): Promise<void> {
  const view = editor.last;
  const panel = view ? documents.notebookOf(view) : undefined;
  if (!view || !panel) return;
  const index = panel.content.widgets.findIndex(({ node }) => node.contains(view.element));
  if (index < 0) return; // it is in a tab of its own
  await documents.showCell(panel, index, null);
  await app.commands.execute("notebook:create-output-view", {});
}
