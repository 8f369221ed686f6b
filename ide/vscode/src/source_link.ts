/** The link between the views of programs and the editors of VS Code. */

import { isAbsolute } from "node:path";
import * as vscode from "vscode";
import { isFixed, unfixed, whyNot } from "../../../widgets/frontend/src/editor_link/cells";
import { isSameText } from "../../../widgets/frontend/src/editor_link/lines_as_run";
import type { ExportedSource, Place, ToPage } from "./protocol";
import type { ReadOnlyTexts } from "./read_only_texts";

/** A cursor that is held down passes many lines. */
const REST_MS = 60;

/** A program on screen. */
export interface OnScreen {
  tell(message: ToPage): void;
  readonly column: vscode.ViewColumn | undefined;
}

export class SourceLink {
  private readonly views = new Map<OnScreen, readonly ExportedSource[]>();
  private timer: ReturnType<typeof setTimeout> | undefined;

  constructor(private readonly texts: ReadOnlyTexts) {}

  /** A view came, or shows another program. */
  join(view: OnScreen, sources: readonly ExportedSource[]): void {
    this.views.set(view, sources);
  }

  leave(view: OnScreen): void {
    this.views.delete(view);
  }

  /** Opens a line that made an op. Rejects with a sentence if the text has changed. */
  async open(view: OnScreen, { file, line }: Place): Promise<void> {
    const source = this.views.get(view)?.[file];
    if (!source) throw new Error("The program on screen has no such file.");
    const document = await this.documentOf(source);
    const at = new vscode.Range(line - 1, 0, line - 1, 0);
    const shown = await vscode.window.showTextDocument(document, {
      viewColumn: beside(view.column),
      preview: false,
      selection: at,
    });
    shown.revealRange(at, vscode.TextEditorRevealType.InCenterIfOutsideViewport);
  }

  /** The user's own file if it exists and was not edited; if not, the exported text, read-only. */
  private async documentOf(source: ExportedSource): Promise<vscode.TextDocument> {
    const path = unfixed(source);
    if (source.origin === "user" && !isFixed(source) && isOfThisMachine(path)) {
      const document = await opened(path);
      if (document && source.text !== null && !isSameText(document.getText(), source.text)) {
        throw new Error(whyNot(source, "edited"));
      }
      if (document) return document;
    }
    if (source.text === null) {
      throw new Error(`The text of ${source.name} was not saved with the program.`);
    }
    return vscode.workspace.openTextDocument(this.texts.uriOf(source.path, source.text));
  }

  /** Hears of a cursor: the ops of its line are marked in every view of that text. */
  moved({ document, selections }: vscode.TextEditor): void {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => {
      const line = (selections[0]?.active.line ?? 0) + 1;
      for (const [view, sources] of this.views) {
        const file = sources.findIndex((each) => this.isOf(document, each));
        if (file < 0) continue;
        const same = isSameText(document.getText(), sources[file]?.text ?? "");
        view.tell({ kind: "follow", place: same ? { file, line } : null });
      }
    }, REST_MS);
  }

  private isOf({ uri }: vscode.TextDocument, source: ExportedSource): boolean {
    if (source.text === null) return false;
    if (uri.scheme === "file") return uri.fsPath === unfixed(source);
    return String(uri) === String(this.texts.uriOf(source.path, source.text));
  }

  dispose(): void {
    clearTimeout(this.timer);
  }
}

/** Whether a path is of this machine's disks: to open `\\\\host\\share` signs in at that host. */
const isOfThisMachine = (path: string): boolean => isAbsolute(path) && !/^[\\/]{2}/.test(path);

/** A file on disk; undefined if there is none. */
async function opened(path: string): Promise<vscode.TextDocument | undefined> {
  try {
    return await vscode.workspace.openTextDocument(vscode.Uri.file(path));
  } catch {
    return undefined; // exported on another machine, or moved since
  }
}

/** The other column of two: the view stays in sight. */
function beside(column: vscode.ViewColumn | undefined): vscode.ViewColumn {
  return column === vscode.ViewColumn.One ? vscode.ViewColumn.Beside : vscode.ViewColumn.One;
}
