/**
 * The extension of VS Code: `.pt2` files open, lines and ops are linked, checks report to Problems.
 */

import * as vscode from "vscode";
import { Checking } from "./checking";
import { ProgramEditor } from "./program_editor";
import { ReadOnlyTexts, SCHEME } from "./read_only_texts";
import { SourceLink } from "./source_link";

export function activate(context: vscode.ExtensionContext): void {
  const texts = new ReadOnlyTexts();
  const link = new SourceLink(texts);
  const problems = vscode.languages.createDiagnosticCollection("export-explorer");
  const checking = new Checking(problems, texts);
  const { commands, window, workspace } = vscode;
  context.subscriptions.push(
    link,
    problems,
    workspace.registerTextDocumentContentProvider(SCHEME, texts),
    window.registerCustomEditorProvider(
      ProgramEditor.viewType,
      new ProgramEditor(context.extensionUri, link),
      // A view that is hidden keeps what is open and selected in it.
      {
        webviewOptions: { retainContextWhenHidden: true },
        supportsMultipleEditorsPerDocument: true,
      },
    ),
    window.onDidChangeTextEditorSelection(({ textEditor }) => link.moved(textEditor)),
    workspace.onDidChangeTextDocument(({ document, contentChanges }) => {
      if (contentChanges.length > 0) checking.edited(document.uri);
    }),
    commands.registerCommand("export-explorer.check", () => checking.checkFile()),
    commands.registerCommand("export-explorer.check-config", () => checking.checkConfig()),
    commands.registerCommand("export-explorer.clear", () => checking.clear()),
  );
}
