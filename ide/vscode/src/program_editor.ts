/** The editor of a `.pt2` file: its Python reads the file as data, and the front end draws it. */

import { randomBytes } from "node:crypto";
import { basename, dirname } from "node:path";
import * as vscode from "vscode";
import { pageHtml } from "./page_html";
import type { ToExtension, ToPage } from "./protocol";
import { explorer, Failure, failureOf, offered, pythonFor } from "./python";
import type { SourceLink } from "./source_link";

/** The version of the two lines that `export-explorer page` prints. */
const PROTOCOL = 1;
/** A file that is being written changes many times. */
const REST_MS = 300;

interface Head {
  protocol: number;
  front_end: string;
}

export class ProgramEditor implements vscode.CustomReadonlyEditorProvider {
  static readonly viewType = "export-explorer.program";

  constructor(
    private readonly home: vscode.Uri,
    private readonly link: SourceLink,
  ) {}

  openCustomDocument(uri: vscode.Uri): vscode.CustomDocument {
    return { uri, dispose: () => {} };
  }

  resolveCustomEditor({ uri }: vscode.CustomDocument, panel: vscode.WebviewPanel): void {
    const dist = vscode.Uri.joinPath(this.home, "dist");
    const { webview } = panel;
    webview.options = { enableScripts: true, localResourceRoots: [dist] };
    const shown = new Shown(uri, panel, dist, this.link);
    panel.onDidDispose(() => shown.dispose());
    webview.html = pageHtml({
      script: String(webview.asWebviewUri(vscode.Uri.joinPath(dist, "webview.js"))),
      nonce: randomBytes(16).toString("base64url"),
    });
  }
}

/** A file on screen. */
class Shown {
  private readonly stops: vscode.Disposable[];
  private running = new vscode.CancellationTokenSource();
  private timer: ReturnType<typeof setTimeout> | undefined;

  constructor(
    private readonly uri: vscode.Uri,
    private readonly panel: vscode.WebviewPanel,
    private readonly dist: vscode.Uri,
    private readonly link: SourceLink,
  ) {
    const folder = vscode.Uri.joinPath(uri, "..");
    const pattern = new vscode.RelativePattern(folder, escaped(basename(uri.fsPath)));
    const watcher = vscode.workspace.createFileSystemWatcher(pattern);
    const later = (): void => {
      clearTimeout(this.timer);
      this.timer = setTimeout(() => void this.read(), REST_MS);
    };
    this.stops = [
      watcher,
      watcher.onDidChange(later),
      watcher.onDidCreate(later),
      panel.webview.onDidReceiveMessage((said: ToExtension) => this.receive(said)),
      { dispose: () => link.leave(this) },
    ];
  }

  dispose(): void {
    clearTimeout(this.timer);
    this.running.cancel();
    for (const each of this.stops) each.dispose();
  }

  tell(message: ToPage): void {
    void this.panel.webview.postMessage(message);
  }

  get column(): vscode.ViewColumn | undefined {
    return this.panel.viewColumn;
  }

  private receive(said: ToExtension): void {
    switch (said.kind) {
      case "ready":
        void this.read();
        break;
      case "sources":
        this.link.join(this, said.sources);
        break;
      case "open":
        void this.link.open(this, said.place).then(
          () => this.tell({ kind: "done", id: said.id, refused: "" }),
          (error: Error) => this.tell({ kind: "done", id: said.id, refused: error.message }),
        );
        break;
      case "cure":
        void (said.cure === "retry" ? this.read() : offered(said.cure));
    }
  }

  /** Reads the file and shows it; stops an earlier read. */
  private async read(): Promise<void> {
    this.running.cancel();
    this.running = new vscode.CancellationTokenSource();
    const { token } = this.running;
    try {
      const python = await pythonFor(this.uri);
      const file = this.uri.fsPath;
      const ended = await explorer(python, ["page", file], dirname(file), token);
      if (ended.code !== 0) throw failureOf(python, ended);
      if (!token.isCancellationRequested) this.show(ended.out, python);
    } catch (error) {
      if (token.isCancellationRequested) return;
      const known = error instanceof Failure ? error : new Failure(String(error));
      const { message, command, cures } = known;
      this.tell({ kind: "failed", sentence: message, command, cures });
    }
  }

  private show(out: string, python: string): void {
    const end = out.indexOf("\n");
    const head = JSON.parse(out.slice(0, end)) as Head;
    if (head.protocol !== PROTOCOL) {
      throw new Failure(
        `Export Explorer in ${python} and this extension have incompatible versions. Update both.`,
      );
    }
    const frontEnd = vscode.Uri.file(head.front_end);
    const { webview } = this.panel;
    const localResourceRoots = [this.dist, vscode.Uri.joinPath(frontEnd, "..")];
    webview.options = { enableScripts: true, localResourceRoots };
    this.tell({
      kind: "show",
      frontEnd: String(webview.asWebviewUri(frontEnd)),
      page: out.slice(end + 1),
    });
  }
}

/** A name in a glob: `[`, `{`, `*` and `?` in it are themselves. */
const escaped = (name: string): string => name.replace(/[[\]{}*?]/g, "[$&]");
