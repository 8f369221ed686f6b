/** Read-only texts: exported sources whose file is not the user's, and pages on codes. */

import { basename } from "node:path";
import * as vscode from "vscode";

export const SCHEME = "export-explorer";

export class ReadOnlyTexts implements vscode.TextDocumentContentProvider {
  private readonly texts = new Map<string, string>();

  provideTextDocumentContent(uri: vscode.Uri): string {
    return this.texts.get(uri.path) ?? "This text is no longer available. Open the file again.";
  }

  /** The address of a text; another text of the same name has another address. */
  uriOf(path: string, text: string): vscode.Uri {
    const name = basename(path.replaceAll("\\", "/")) || "source.py";
    for (let copy = 0; ; copy++) {
      const place = `/${copy || ""}${copy ? "/" : ""}${name}`;
      const known = this.texts.get(place);
      if (known === undefined) this.texts.set(place, text);
      if (known === undefined || known === text) {
        return vscode.Uri.from({ scheme: SCHEME, path: place });
      }
    }
  }
}
