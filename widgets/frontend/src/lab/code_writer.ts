/**
 * Writes an attempt's changes into the cells and files they are of: shown as a diff first, and only
 * once that is accepted. Each text changes in one transaction, which its editor's own undo takes
 * back. A text that is not what was exported is not touched.
 */

import { cellOf, whyNot } from "../editor_link/cells";
import { withShapes } from "../editor_link/export_line";
import { isSameText } from "../editor_link/lines_as_run";
import type { View } from "../editor_link/link";
import { changesOf, diffLines, lastFirst, type TextChange } from "../editor_link/text_changes";
import type { CodeChange, Writing } from "../messages.gen";
import { cellsOf, type Documents } from "./documents";
import type { EditorModules, NotebookPanel, SharedText } from "./editor_modules";

interface Target {
  name: string;
  shared: SharedText;
  text: string;
  changes: TextChange[];
}

export class CodeWriter {
  constructor(
    private readonly documents: Documents,
    private readonly modules: EditorModules,
  ) {}

  /** The names of what was written; none if it was not accepted. Rejects with a sentence. */
  async write(view: View, writing: Writing): Promise<string[]> {
    const panel = this.documents.notebookOf(view);
    const targets: Target[] = [];
    for (const change of writing.changes) {
      const target = await this.textOf(panel, change);
      add(targets, target, changesOf(target.text, change.hunks));
    }
    if (writing.shapes) {
      const target = exportCell(panel, view, writing.cell);
      add(targets, target, [withShapes(target.text, writing.call, writing.shapes)]);
    }
    if (!(await this.accepted(targets, writing.others))) return [];
    const edited = targets.find(({ shared, text }) => shared.getSource() !== text);
    if (edited)
      throw new Error(`${edited.name} was edited in the meantime, so nothing is written.`);
    for (const { shared, changes } of targets) apply(shared, changes);
    return targets.map(({ name }) => name);
  }

  /** Where a changed text is; only if it is what was exported. */
  private async textOf(panel: NotebookPanel | undefined, change: CodeChange): Promise<Target> {
    const { name, before } = change;
    if (change.origin === "cell") {
      if (!panel) throw new Error(`The notebook of ${name} is not open.`);
      const cells = cellsOf(panel);
      const found = cellOf(cells, change, before);
      const cell = found.kind === "same" ? panel.content.widgets[found.index] : undefined;
      if (!cell) throw new Error(whyNot(change, found.kind === "edited" ? "edited" : "gone"));
      return targetOf(name, cell.model.sharedModel);
    }
    if (change.origin !== "user") {
      throw new Error(
        `${name} is a file of an installed package and is not changed. The fix applies to this ` +
          "attempt; copy its diff.",
      );
    }
    const served = await this.documents.served(change.path);
    if (served === null) {
      throw new Error(`${change.path} is not in the folder that JupyterLab shows: copy the diff.`);
    }
    const opened = await this.documents.openFile(served, panel);
    const target = targetOf(name, opened.content.model.sharedModel);
    if (!isSameText(target.text, before)) throw new Error(whyNot(change, "edited"));
    return target;
  }

  private async accepted(targets: readonly Target[], others: readonly string[]): Promise<boolean> {
    const { showDialog, Dialog } = this.modules.apputils;
    const node = document.createElement("div");
    node.style.cssText = "max-height: 60vh; overflow: auto; min-width: min(480px, 80vw);";
    for (const target of targets) node.append(...diffOf(target));
    if (others.length > 0) {
      const note = document.createElement("p");
      note.textContent = `The attempt also needs changes that are not written: ${others.join("; ")}.`;
      node.append(note);
    }
    const { button } = await showDialog({
      title: "Apply to my code?",
      body: new this.modules.lumino.Widget({ node }),
      buttons: [Dialog.cancelButton(), Dialog.okButton({ label: "Write" })],
    });
    return button.accept;
  }
}

function targetOf(name: string, shared: SharedText): Target {
  return { name, shared, text: shared.getSource(), changes: [] };
}

/** The cell of the `%export` line, as it was when it ran: the one with the view, if it still is. */
function exportCell(panel: NotebookPanel | undefined, view: View, text: string): Target {
  const same = (panel?.content.widgets ?? []).filter(
    ({ model }) => text !== "" && isSameText(model.sharedModel.getSource(), text),
  );
  const cell = same.find(({ node }) => node.contains(view.element)) ?? same[0];
  if (cell) return targetOf("the cell of %export", cell.model.sharedModel);
  throw new Error(
    text
      ? "The cell of %export was edited since the export: its line is not rewritten. Export again."
      : "The cell of this export is unknown: its line is not rewritten.",
  );
}

/** One text may be changed for several reasons. */
function add(targets: Target[], target: Target, changes: readonly TextChange[]): void {
  const known = targets.find(({ shared }) => shared === target.shared);
  if (known) known.changes.push(...changes);
  else targets.push({ ...target, changes: [...changes] });
}

function apply(shared: SharedText, changes: readonly TextChange[]): void {
  shared.undoManager?.stopCapturing?.(); // apart from what was typed just before
  shared.transact(() => {
    for (const { start, end, text } of lastFirst(changes)) shared.updateSource(start, end, text);
  });
  shared.undoManager?.stopCapturing?.();
}

const COLOURS = {
  "-": "background: color-mix(in srgb, var(--jp-error-color1) 18%, transparent);",
  "+": "background: color-mix(in srgb, var(--jp-success-color1) 18%, transparent);",
  " ": "",
};

/** A text's diff; only ever set as text. */
function diffOf({ name, text, changes }: Target): HTMLElement[] {
  const head = document.createElement("p");
  head.textContent = name;
  head.style.fontWeight = "600";
  const lines = document.createElement("pre");
  lines.style.cssText =
    "margin: 0; white-space: pre-wrap; font-family: var(--jp-code-font-family);";
  for (const [sign, line] of diffLines(text, changes)) {
    const shown = document.createElement("div");
    shown.textContent = `${sign} ${line}`;
    shown.style.cssText = COLOURS[sign];
    lines.append(shown);
  }
  return [head, lines];
}
