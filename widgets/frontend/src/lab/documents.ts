/** The notebooks and files that are open in JupyterLab, and how to open others. */

import type { Cell } from "../editor_link/cells";
import type { View } from "../editor_link/link";
import type {
  CellWidget,
  CodeEditor,
  FileWidget,
  NotebookPanel,
  SharedText,
  Tracker,
} from "./editor_modules";
import { belowRoot } from "./server_files";
import type { App, Widget } from "./shared_modules";

export interface CellPlace {
  notebook: NotebookPanel;
  cell: CellWidget;
}

/** Where a text is: a cell of a notebook, or a file by its path below the server's root. */
export type Where = CellPlace | { file: string };

export class Documents {
  /** @param roots names of the folder that is served; none if the server does not say */
  constructor(
    private readonly app: App,
    private readonly notebooks: Tracker<NotebookPanel>,
    private readonly files: Tracker<FileWidget>,
    private readonly roots: () => Promise<readonly string[]>,
  ) {}

  /** The notebook that shows a view; for a view in a separate tab, the one that made it. */
  notebookOf(view: View): NotebookPanel | undefined {
    const open: NotebookPanel[] = [];
    this.notebooks.forEach((panel) => void open.push(panel));
    return (
      open.find((panel) => panel.node.contains(view.element)) ??
      open.find((panel) => view.notebook !== "" && panel.context.path === view.notebook)
    );
  }

  /** The cell whose output shows a view; null for a view in a separate tab. */
  cellOf(view: View): CellPlace | null {
    const notebook = this.notebookOf(view);
    const cell = notebook?.content.widgets.find(({ node }) => node.contains(view.element));
    return notebook && cell ? { notebook, cell } : null;
  }

  where(text: SharedText): Where | null {
    let found: Where | null = null;
    this.notebooks.forEach((notebook) => {
      const cell = notebook.content.widgets.find((each) => each.model.sharedModel === text);
      if (cell) found = { notebook, cell };
    });
    this.files.forEach(({ context, content }) => {
      if (content.model.sharedModel === text) found = { file: context.path };
    });
    return found;
  }

  /** The path of one of Python's files below the server's root; null if it is not there. */
  async served(path: string): Promise<string | null> {
    return belowRoot(await this.roots(), path);
  }

  /** Opens a file next to a notebook, or shows it if it is open. */
  async openFile(path: string, beside: Widget | undefined): Promise<FileWidget> {
    const place = beside ? { mode: "split-left", ref: beside.id } : {};
    const args = { path, factory: "Editor", options: { ...place, activate: true } };
    const opened = (await this.app.commands.execute("docmanager:open", args)) as FileWidget | null;
    if (!opened) throw new Error(`${path} cannot be opened.`);
    await opened.context.ready;
    await opened.content.ready;
    this.app.shell.activateById(opened.id);
    return opened;
  }

  /** Scrolls to a cell, and moves the cursor to a line if given. */
  async showCell(panel: NotebookPanel, index: number, line: number | null): Promise<void> {
    const cell = panel.content.widgets[index];
    if (!cell) return;
    this.app.shell.activateById(panel.id);
    await panel.content.scrollToItem(index, "smart");
    await cell.ready;
    panel.content.activeCellIndex = index;
    if (line === null) return;
    panel.content.mode = "edit";
    if (cell.editor) moveTo(cell.editor, line);
    cell.node.scrollIntoView({ block: "nearest" });
  }
}

/** Cells of a notebook, as they are matched with a Record's sources. */
export function cellsOf(panel: NotebookPanel): Cell[] {
  return panel.content.widgets.map(asCell);
}

function asCell({ model }: CellWidget): Cell {
  const text = model.type === "code" ? model.sharedModel.getSource() : "";
  return { text, count: model.executionCount ?? null };
}

/**
 * Puts the cursor on a line, and the line in view once a tab that was just opened has its size.
 *
 * @param line from 1
 */
export function moveTo(editor: CodeEditor, line: number): void {
  const at = { line: line - 1, column: 0 };
  editor.setCursorPosition(at);
  editor.revealPosition(at);
  editor.focus();
  requestAnimationFrame(() => requestAnimationFrame(() => editor.revealPosition(at)));
}
