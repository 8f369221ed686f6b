/** Commands of JupyterLab's palette; each is about the view that was last used. */

import type { Documents } from "./documents";
import type { NotebookPanel, Tracker } from "./editor_modules";
import type { LabEditor } from "./lab_editor";
import type { Area, LastExport } from "./last_export";
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
  lastExport: LastExport;
}

const CATEGORY = "Export Explorer";

export function addCommands(app: App, palette: Palette | null, parts: Parts): void {
  const { editor, lastExport } = parts;
  const add = (
    id: string,
    label: string,
    execute: () => unknown,
    state: { isEnabled?: () => boolean; isToggled?: () => boolean },
  ): void => {
    const command = `export-explorer:${id}`;
    app.commands.addCommand(command, {
      label: palette ? label : `${CATEGORY}: ${label}`,
      execute,
      ...state,
    });
    palette?.addItem({ command, category: CATEGORY });
  };
  const hasView = { isEnabled: () => editor.last !== null };
  const hasFix = { isEnabled: () => fixHere(parts) !== null };
  add("go-to-source", "Go to Source", () => editor.last?.goToSource(), hasView);
  add("apply-fix", "Apply the Fix of This Cell to My Code", () => fixHere(parts)?.(), hasFix);
  add("own-tab", "Open the View in Its Own Tab", () => ownTab(app, parts), hasView);
  const toggle = (id: string, label: string, area: Area): void => {
    const isToggled = () => lastExport.isIn(area);
    add(id, label, () => lastExport.toggle(area), { isToggled });
  };
  toggle("last-in-tab", "Show the Last Export in a Tab", "tab");
  toggle("last-in-sidebar", "Show the Last Export in the Sidebar", "sidebar");
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
  const place = editor.last ? documents.cellOf(editor.last) : null;
  if (!place) return; // it is in a separate tab
  const { notebook, cell } = place;
  await documents.showCell(notebook, notebook.content.widgets.indexOf(cell), null);
  await app.commands.execute("notebook:create-output-view", {});
}
