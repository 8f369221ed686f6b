/** The part of `vscode` that the extension calls, without VS Code: tests read what it was asked. */

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

type Listener<T> = (event: T) => unknown;

export class EventEmitter<T> {
  private readonly listeners = new Set<Listener<T>>();
  readonly event = (listener: Listener<T>) => {
    this.listeners.add(listener);
    return { dispose: () => void this.listeners.delete(listener) };
  };
  fire(event: T): void {
    for (const listener of this.listeners) listener(event);
  }
}

export class CancellationTokenSource {
  private readonly emitter = new EventEmitter<void>();
  readonly token = { isCancellationRequested: false, onCancellationRequested: this.emitter.event };
  cancel(): void {
    if (this.token.isCancellationRequested) return;
    this.token.isCancellationRequested = true;
    this.emitter.fire();
  }
}

export class CancellationError extends Error {}

export class Uri {
  private constructor(
    readonly scheme: string,
    readonly path: string,
  ) {}
  static file = (path: string): Uri => new Uri("file", path);
  static from = ({ scheme, path }: { scheme: string; path: string }): Uri => new Uri(scheme, path);
  static joinPath = (uri: Uri, ...parts: string[]): Uri =>
    new Uri(uri.scheme, join(uri.path, ...parts));
  get fsPath(): string {
    return this.path;
  }
  toString(): string {
    return this.scheme === "file" ? pathToFileURL(this.path).href : `${this.scheme}:${this.path}`;
  }
}

export class Range {
  constructor(
    readonly startLine: number,
    readonly startCharacter: number,
    readonly endLine: number,
    readonly endCharacter: number,
  ) {}
}

export class RelativePattern {
  constructor(
    readonly base: Uri,
    readonly pattern: string,
  ) {}
}

export class Diagnostic {
  source?: string;
  code?: unknown;
  constructor(
    readonly range: Range,
    readonly message: string,
    readonly severity: number,
  ) {}
}

export const DiagnosticSeverity = { Error: 0, Warning: 1, Information: 2 } as const;
export const ViewColumn = { Beside: -2, One: 1, Two: 2 } as const;
export const TextEditorRevealType = { InCenterIfOutsideViewport: 2 } as const;
export const ProgressLocation = { Notification: 15 } as const;

/** What the extension did, and what the user would have chosen. */
export const seen = {
  settings: {} as Record<string, string>,
  extension: undefined as { activate(): Promise<unknown> } | undefined,
  commands: [] as unknown[][],
  said: [] as string[],
  shown: [] as { uri: string; line: number }[],
  chosen: undefined as string | undefined,
  watched: [] as RelativePattern[],
  status: "",
  fileChanged: new EventEmitter<Uri>(),
  provider: undefined as { provideTextDocumentContent(uri: Uri): string } | undefined,
};

export class TextDocument {
  saved = 0;
  constructor(
    readonly uri: Uri,
    public text: string,
    readonly languageId = "python",
  ) {}
  getText(): string {
    return this.text;
  }
  async save(): Promise<boolean> {
    this.saved++;
    return true;
  }
  lineAt(line: number) {
    const text = this.text.split("\n")[line];
    if (text === undefined) throw new Error("Illegal value for `line`");
    const firstNonWhitespaceCharacterIndex = text.length - text.trimStart().length;
    return { firstNonWhitespaceCharacterIndex, range: { end: { character: text.length } } };
  }
}

export class DiagnosticCollection {
  readonly held = new Map<string, Diagnostic[]>();
  set(uri: Uri, diagnostics: Diagnostic[]): void {
    this.held.set(String(uri), diagnostics);
  }
  has(uri: Uri): boolean {
    return this.held.has(String(uri));
  }
  clear(): void {
    this.held.clear();
  }
}

export const commands = {
  executeCommand: async (...command: unknown[]) => void seen.commands.push(command),
};

export const extensions = { getExtension: () => seen.extension };

export const workspace = {
  workspaceFolders: undefined as { uri: Uri }[] | undefined,
  getWorkspaceFolder: () => workspace.workspaceFolders?.[0],
  getConfiguration: () => ({ get: (key: string, other: string) => seen.settings[key] ?? other }),
  createFileSystemWatcher: (pattern: RelativePattern) => {
    seen.watched.push(pattern);
    const { event } = seen.fileChanged;
    return { onDidChange: event, onDidCreate: () => ({ dispose() {} }), dispose() {} };
  },
  openTextDocument: async (uri: Uri) =>
    new TextDocument(
      uri,
      uri.scheme === "file"
        ? readFileSync(uri.path, "utf8")
        : (seen.provider?.provideTextDocumentContent(uri) ?? ""),
    ),
};

export const window = {
  activeTextEditor: undefined as
    | { document: TextDocument; selection: { active: { line: number } } }
    | undefined,
  showTextDocument: async ({ uri }: TextDocument, { selection }: { selection: Range }) => {
    seen.shown.push({ uri: String(uri), line: selection.startLine + 1 });
    return { revealRange() {} };
  },
  showQuickPick: async (names: string[]) => seen.chosen ?? names[0],
  showInformationMessage: async (said: string) => void seen.said.push(said),
  showErrorMessage: async (said: string, ...items: string[]) => {
    seen.said.push(said);
    return items.find((each) => each === seen.chosen);
  },
  setStatusBarMessage: (said: string) => {
    seen.status = said;
  },
  withProgress: async <T>(_: object, task: (progress: object, token: object) => Promise<T>) =>
    task({}, new CancellationTokenSource().token),
};

/** A panel of a custom editor: what it was told, and how its page answers. */
export class WebviewPanel {
  readonly told: Record<string, unknown>[] = [];
  private readonly messages = new EventEmitter<unknown>();
  private readonly disposed = new EventEmitter<void>();
  private readonly news = new EventEmitter<void>();
  viewColumn = ViewColumn.One;
  readonly onDidDispose = this.disposed.event;
  readonly webview = {
    html: "",
    options: {} as { localResourceRoots?: Uri[] },
    asWebviewUri: (uri: Uri) => `https://resource${uri.path}`,
    onDidReceiveMessage: this.messages.event,
    postMessage: async (message: Record<string, unknown>) => {
      this.told.push(message);
      this.news.fire();
    },
  };
  say(message: unknown): void {
    this.messages.fire(message);
  }
  dispose(): void {
    this.disposed.fire();
  }
  /** The first message of a kind that is not of those before `from`. */
  async next(kind: string, from = 0): Promise<Record<string, unknown>> {
    for (;;) {
      const found = this.told.slice(from).find((each) => each.kind === kind);
      if (found) return found;
      await new Promise<void>((resolve) => {
        const { dispose } = this.news.event(() => {
          dispose();
          resolve();
        });
      });
    }
  }
}
