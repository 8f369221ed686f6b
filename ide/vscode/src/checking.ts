/** Runs `export-explorer check`, and lists its problems in Problems. */

import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import * as vscode from "vscode";
import { explorer, Failure, failureOf, offered, pythonFor } from "./python";
import type { ReadOnlyTexts } from "./read_only_texts";
import { callablesIn, type Problem, problemsIn } from "./sarif";

const SEVERITIES = {
  error: vscode.DiagnosticSeverity.Error,
  warning: vscode.DiagnosticSeverity.Warning,
  note: vscode.DiagnosticSeverity.Information,
} as const;

/** A check, and the file of problems without a line. */
interface Target {
  /** Of `check`; none for what `pyproject.toml` names. */
  calls: readonly string[];
  title: string;
  cwd: string;
  home: { file: string; line: number };
}

export class Checking {
  /** By what was checked: one check takes nothing of another away. */
  private readonly found = new Map<string, readonly [vscode.Uri, vscode.Diagnostic][]>();

  constructor(
    private readonly problems: vscode.DiagnosticCollection,
    private readonly texts: ReadOnlyTexts,
  ) {}

  /** Exports the result of a function of the active file; asks which one, if there are several. */
  async checkFile(): Promise<void> {
    const editor = vscode.window.activeTextEditor;
    if (editor?.document.languageId !== "python" || editor.document.uri.scheme !== "file") {
      return say("Open a Python file with a function that returns (model, args), then check it.");
    }
    const { document, selection } = editor;
    const functions = callablesIn(document.getText(), selection.active.line);
    const names = functions.map(({ name }) => name);
    if (names.length === 0) {
      return say(
        "This file has no function without arguments. Write one that returns (model, args) or " +
          "(model, args, kwargs).",
      );
    }
    const placeHolder =
      "Which function returns (model, args)? Export Explorer runs it and exports the model.";
    const name =
      names.length === 1 ? names[0] : await vscode.window.showQuickPick(names, { placeHolder });
    if (!name || !(await document.save())) return;
    const file = document.uri.fsPath;
    await this.check(document.uri, {
      calls: [`${file}:${name}`],
      title: `${name}()`,
      cwd: vscode.workspace.getWorkspaceFolder(document.uri)?.uri.fsPath ?? dirname(file),
      home: { file, line: (functions.find((each) => each.name === name)?.line ?? 0) + 1 },
    });
  }

  /** Runs the checks of a folder's `pyproject.toml`. */
  async checkConfig(): Promise<void> {
    const active = vscode.window.activeTextEditor?.document.uri;
    const folder =
      (active && vscode.workspace.getWorkspaceFolder(active)) ??
      vscode.workspace.workspaceFolders?.[0];
    if (!folder) return say("Open the folder whose pyproject.toml lists the checks.");
    const cwd = folder.uri.fsPath;
    const home = { file: join(cwd, "pyproject.toml"), line: 1 };
    await this.check(folder.uri, { calls: [], title: "pyproject.toml", cwd, home });
  }

  clear(): void {
    this.found.clear();
    this.problems.clear();
  }

  /** Problems of an edited text may have moved to different lines. */
  edited(uri: vscode.Uri): void {
    if (!this.problems.has(uri)) return;
    for (const [key, found] of this.found) {
      this.found.set(
        key,
        found.filter(([file]) => String(file) !== String(uri)),
      );
    }
    this.show();
  }

  private async check(resource: vscode.Uri, target: Target): Promise<void> {
    const title = `Export Explorer checks ${target.title}`;
    const location = vscode.ProgressLocation.Notification;
    try {
      const problems = await vscode.window.withProgress(
        { location, title, cancellable: true },
        async (_, token) => reportOf(await pythonFor(resource), target, token),
      );
      this.found.set(`${target.cwd}\n${target.calls}`, await this.diagnosed(problems, target));
      this.show();
      const counted = problems.length === 1 ? "1 problem" : `${problems.length} problems`;
      vscode.window.setStatusBarMessage(`${target.title}: ${counted}`, 10_000);
      if (problems.some(({ level }) => level === "error")) {
        await vscode.commands.executeCommand("workbench.actions.view.problems");
      }
    } catch (error) {
      if (!(error instanceof vscode.CancellationError)) await sayFailure(error);
    }
  }

  private async diagnosed(
    problems: readonly Problem[],
    { cwd, home }: Target,
  ): Promise<[vscode.Uri, vscode.Diagnostic][]> {
    return Promise.all(
      problems.map(async (problem) => {
        const file = problem.file === null ? home.file : pathOf(problem.file, cwd);
        const line = problem.file === null ? home.line : problem.line;
        const uri = vscode.Uri.file(file);
        const range = await rangeOf(uri, line - 1);
        const diagnostic = new vscode.Diagnostic(range, problem.message, SEVERITIES[problem.level]);
        diagnostic.source = "Export Explorer";
        diagnostic.code = problem.page
          ? { value: problem.code, target: this.texts.uriOf(`${problem.code}.md`, problem.page) }
          : problem.code;
        return [uri, diagnostic];
      }),
    );
  }

  private show(): void {
    const all = new Map<string, [vscode.Uri, vscode.Diagnostic[]]>();
    for (const [uri, diagnostic] of [...this.found.values()].flat()) {
      const held = all.get(String(uri)) ?? [uri, []];
      held[1].push(diagnostic);
      all.set(String(uri), held);
    }
    this.problems.clear();
    for (const [uri, diagnostics] of all.values()) this.problems.set(uri, diagnostics);
  }
}

/** Runs the check. What a model prints goes to stdout, so the report is written to a file. */
async function reportOf(
  python: string,
  { calls, cwd }: Target,
  token: vscode.CancellationToken,
): Promise<Problem[]> {
  const folder = await mkdtemp(join(tmpdir(), "export-explorer-"));
  try {
    const output = join(folder, "report.sarif");
    const args = ["check", ...calls, "--format", "sarif", "--output", output];
    const ended = await explorer(python, args, cwd, token);
    const report = await readFile(output, "utf8").catch(() => null); // Python's own failure is 1, too
    if (report === null) throw failureOf(python, ended);
    return problemsIn(report).map((problem) => withoutTarget(problem, calls));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** A sentence that begins with what was checked; Problems says that already. */
function withoutTarget(problem: Problem, calls: readonly string[]): Problem {
  const start = `${calls[0]}: `;
  const { message } = problem;
  return message.startsWith(start) ? { ...problem, message: message.slice(start.length) } : problem;
}

const pathOf = (said: string, cwd: string): string =>
  said.startsWith("file:") ? fileURLToPath(said) : resolve(cwd, decodeURIComponent(said));

/** A line without its indentation; the line as a number where its file cannot be read. */
async function rangeOf(uri: vscode.Uri, line: number): Promise<vscode.Range> {
  try {
    const text = (await vscode.workspace.openTextDocument(uri)).lineAt(line);
    return new vscode.Range(
      line,
      text.firstNonWhitespaceCharacterIndex,
      line,
      text.range.end.character,
    );
  } catch {
    return new vscode.Range(Math.max(line, 0), 0, Math.max(line, 0), 1); // gone, or shorter by now
  }
}

async function say(sentence: string): Promise<void> {
  await vscode.window.showInformationMessage(sentence);
}

async function sayFailure(error: unknown): Promise<void> {
  const known = error instanceof Failure ? error : new Failure(String(error), "", []);
  const labels = { "select-python": "Select Python Interpreter", settings: "Open Settings" };
  const cures = known.cures.filter((each) => each !== "retry");
  const said = [known.message, known.command].filter(Boolean).join(" ");
  const chosen = await vscode.window.showErrorMessage(said, ...cures.map((each) => labels[each]));
  const cure = cures.find((each) => labels[each] === chosen);
  if (cure) await offered(cure);
}
