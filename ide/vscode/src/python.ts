/** The Python that has Export Explorer, and its commands. */

import { spawn } from "node:child_process";
import * as vscode from "vscode";
import type { Cure } from "./protocol";

/** A failed command: the error, a command that fixes it, and remedies. */
export class Failure extends Error {
  constructor(
    sentence: string,
    readonly command = "",
    readonly cures: readonly Cure[] = ["retry"],
  ) {
    super(sentence);
  }
}

/** The output and the exit code of a command. */
export interface Ended {
  out: string;
  error: string;
  code: number;
}

/** The part of the Python extension's API that is used. */
interface PythonApi {
  environments: {
    getActiveEnvironmentPath(resource?: vscode.Uri): { path: string };
    resolveEnvironment(environment: {
      path: string;
    }): Promise<{ executable: { uri?: vscode.Uri } } | undefined>;
  };
}

const SETTING = "export-explorer";

/** The path of the Python for a file or a folder, and the setting that defines it. */
export async function pythonFor(resource: vscode.Uri): Promise<string> {
  const said = vscode.workspace.getConfiguration(SETTING, resource).get<string>("python", "");
  if (said) return said;
  return (await selected(resource)) ?? (process.platform === "win32" ? "python" : "python3");
}

/** The Python extension's interpreter; undefined without that extension. */
async function selected(resource: vscode.Uri): Promise<string | undefined> {
  const extension = vscode.extensions.getExtension<PythonApi>("ms-python.python");
  if (!extension) return undefined;
  const { environments } = await extension.activate();
  if (!environments) return undefined; // of a version before it had this
  const active = environments.getActiveEnvironmentPath(resource);
  return (await environments.resolveEnvironment(active))?.executable.uri?.fsPath ?? active.path;
}

/**
 * Runs a command of `export-explorer`.
 *
 * An `explorer.py` in the folder does not run instead: `-P` leaves it off the path.
 *
 * @param cwd where it runs
 * @param token stops it
 * @throws Failure, with a sentence, if that Python cannot be started
 */
export function explorer(
  python: string,
  args: readonly string[],
  cwd: string,
  token: vscode.CancellationToken,
): Promise<Ended> {
  return ran(python, ["-P", "-m", "explorer", ...args], cwd, token);
}

/** Why a command failed, from what it printed. */
export function failureOf(python: string, { error, code }: Ended): Failure {
  const choose: Cure[] = ["select-python", "settings", "retry"];
  if (/No module named '?explorer\b/.test(error)) {
    return new Failure(
      `Export Explorer is not installed in ${python}, or is older than this extension. Install it ` +
        "there, or select a Python that has it:",
      `${quoted(python)} -m pip install --upgrade export-explorer`,
      choose,
    );
  }
  if (/unknown option -P/i.test(error)) {
    const sentence = `${python} is older than 3.11, which Export Explorer needs. Select another.`;
    return new Failure(sentence, "", choose);
  }
  const sentences = error.split("\n").filter((line) => line.startsWith("export-explorer: "));
  const sentence = sentences.at(-1)?.slice("export-explorer: ".length);
  if (sentence) return new Failure(sentence);
  const last = error.trimEnd().split("\n").at(-1) ?? "";
  return new Failure(`${python} ended with exit code ${code}. ${last}`.trim(), "", choose);
}

const quoted = (path: string): string => (/\s/.test(path) ? `"${path}"` : path);

function ran(
  python: string,
  args: readonly string[],
  cwd: string,
  token: vscode.CancellationToken,
): Promise<Ended> {
  return new Promise((resolve, reject) => {
    if (token.isCancellationRequested) return reject(new vscode.CancellationError());
    const env = { ...process.env, PYTHONIOENCODING: "utf-8" };
    const child = spawn(python, args, { cwd, env, windowsHide: true });
    const stop = token.onCancellationRequested(() => child.kill());
    const out: Buffer[] = [];
    const error: Buffer[] = [];
    child.stdout.on("data", (piece: Buffer) => out.push(piece));
    child.stderr.on("data", (piece: Buffer) => error.push(piece));
    child.on("error", (why: NodeJS.ErrnoException) => {
      stop.dispose();
      reject(notStarted(python, why));
    });
    child.on("close", (code) => {
      stop.dispose();
      if (token.isCancellationRequested) return reject(new vscode.CancellationError());
      resolve({ out: text(out), error: text(error), code: code ?? -1 });
    });
  });
}

const text = (pieces: readonly Buffer[]): string => Buffer.concat(pieces).toString("utf8");

function notStarted(python: string, why: NodeJS.ErrnoException): Failure {
  const cause = why.code === "ENOENT" ? "there is no such program" : why.message;
  return new Failure(
    `Python cannot be started as ${python}: ${cause}. Select an interpreter that has Export ` +
      "Explorer installed, or set export-explorer.python.",
    "",
    ["select-python", "settings", "retry"],
  );
}

/** Carries out what a button of a failure offers, `retry` excepted. */
export async function offered(cure: Cure): Promise<void> {
  if (cure === "settings") {
    await vscode.commands.executeCommand("workbench.action.openSettings", `${SETTING}.python`);
  } else if (vscode.extensions.getExtension("ms-python.python")) {
    await vscode.commands.executeCommand("python.setInterpreter");
  } else {
    await vscode.window.showInformationMessage(
      "The Python extension is not installed. Set export-explorer.python to the path of a Python interpreter.",
    );
  }
}
