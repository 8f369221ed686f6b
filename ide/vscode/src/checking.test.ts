import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { FakePython } from "../testing/fake_python";
import {
  type Diagnostic,
  DiagnosticCollection,
  seen,
  TextDocument,
  Uri,
  window,
  workspace,
} from "../testing/vscode";
import { Checking } from "./checking";
import { ReadOnlyTexts } from "./read_only_texts";

const CODE = "def make():\n    return model, args\n\ndef other():\n    if x.sum() > 0:\n";

afterEach(() => {
  Object.assign(seen, { settings: {}, commands: [], said: [], chosen: undefined, status: "" });
  window.activeTextEditor = undefined;
  workspace.workspaceFolders = undefined;
});

const RULES = [{ id: "EX111", help: { markdown: "# EX111\n\nA branch depends on data.\n" } }];

function sarif(...places: ([uri: string, line: number] | null)[]): string {
  return reported("make()", places);
}

function reported(target: string, places: ([uri: string, line: number] | null)[]): string {
  const results = places.map((place) => ({
    ruleId: place ? "EX111" : "golden",
    level: place ? "error" : "warning",
    message: { text: `${target}: This \`if\` depends on the values of \`x\`.` },
    ...(place && {
      locations: [
        {
          physicalLocation: {
            artifactLocation: { uri: place[0] },
            region: { startLine: place[1] },
          },
        },
      ],
    }),
  }));
  return JSON.stringify({ runs: [{ tool: { driver: { rules: RULES } }, results }] });
}

function project(report: string, line = 0) {
  const folder = mkdtempSync(join(tmpdir(), "project-"));
  const file = join(folder, "model.py");
  writeFileSync(file, CODE);
  const python = new FakePython({ out: "the model prints this", code: 1, report });
  seen.settings = { python: python.path };
  const document = new TextDocument(Uri.file(file), CODE);
  window.activeTextEditor = { document, selection: { active: { line } } };
  workspace.workspaceFolders = [{ uri: Uri.file(folder) }];
  const problems = new DiagnosticCollection();
  const texts = new ReadOnlyTexts();
  const checking = new Checking(problems as never, texts);
  const at = (path = file): Diagnostic[] => problems.held.get(String(Uri.file(path))) ?? [];
  return { folder, file, python, document, checking, problems, texts, at };
}

test("the function at the cursor is checked, and a problem stands on its line with its code's page", async () => {
  const { checking, python, document, folder, file, texts, at } = project(
    sarif(["model.py", 5]),
    4,
  );
  await checking.checkFile();
  const [[cwd, ...command] = []] = python.calls;
  expect(cwd).toBe(folder);
  expect(command.slice(0, 5)).toEqual(["-P", "-m", "explorer", "check", `${file}:other`]);
  expect(document.saved).toBe(1);
  const [problem] = at();
  expect(problem?.range).toEqual({ startLine: 4, startCharacter: 4, endLine: 4, endCharacter: 19 });
  expect([problem?.severity, problem?.source]).toEqual([0, "Export Explorer"]);
  const code = problem?.code as { value: string; target: never };
  expect(code.value).toBe("EX111");
  expect(texts.provideTextDocumentContent(code.target)).toContain("A branch depends on data.");
  expect(seen.commands).toEqual([["workbench.actions.view.problems"]]);
});

test("of several functions the user chooses; a problem of no line stands on the function", async () => {
  seen.chosen = "other";
  const { checking, python, at } = project(sarif(null));
  await checking.checkFile();
  expect(python.calls[0]?.[5]).toMatch(/:other$/);
  expect(at()[0]?.range.startLine).toBe(3);
  expect(at()[0]?.code).toBe("golden");
});

test("a sentence does not repeat the call", async () => {
  const { checking, python, file, at } = project("", 4);
  python.answers({ report: reported(`${file}:other`, [["model.py", 5]]) });
  await checking.checkFile();
  expect(at()[0]?.message).toBe("This `if` depends on the values of `x`.");
});

test("a check replaces what it found before, and an edit of the file takes it away", async () => {
  const { checking, python, document, file, at } = project(sarif(["model.py", 5], ["model.py", 2]));
  await checking.checkFile();
  expect(at()).toHaveLength(2);
  python.answers({ report: sarif(["model.py", 5]) });
  await checking.checkFile();
  expect(at()).toHaveLength(1);
  checking.edited(Uri.file(`${file}x`) as never);
  expect(at()).toHaveLength(1);
  checking.edited(document.uri as never);
  expect(at()).toHaveLength(0);
});

test("what pyproject.toml names is checked in its folder; a line may be of any file, or past its end", async () => {
  const place = "file:///gone/lib%20x.py";
  const { checking, python, folder, at } = project(
    sarif([place, 7], ["model.py", 99], ["a%20b.py", 2], null),
  );
  await checking.checkConfig();
  expect(python.calls[0]?.slice(0, 6)).toEqual([
    folder,
    "-P",
    "-m",
    "explorer",
    "check",
    "--format",
  ]);
  expect(at("/gone/lib x.py")[0]?.range.startLine).toBe(6);
  expect(at()[0]?.range.startLine).toBe(98);
  expect(at(join(folder, "a b.py"))[0]?.range.startLine).toBe(1);
  expect(at(join(folder, "pyproject.toml"))[0]?.range.startLine).toBe(0);
});

test("what cannot be checked is said in a sentence", async () => {
  const { checking, python } = project("");
  python.answers({ error: "export-explorer: There is no file x.py.\n", code: 2 });
  await checking.checkFile();
  expect(seen.said).toEqual(["There is no file x.py."]);
  python.answers({ error: "No module named explorer", code: 1 });
  seen.chosen = "Open Settings";
  await checking.checkFile();
  expect(seen.said[1]).toContain("-m pip install --upgrade export-explorer");
  expect(seen.commands).toEqual([["workbench.action.openSettings", "export-explorer.python"]]);
  window.activeTextEditor = undefined;
  await checking.checkFile();
  expect(seen.said[2]).toContain("Open a Python file");
});
