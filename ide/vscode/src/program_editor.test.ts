import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { FakePython } from "../testing/fake_python";
import { seen, TextDocument, Uri, WebviewPanel } from "../testing/vscode";
import { ProgramEditor } from "./program_editor";
import type { ExportedSource } from "./protocol";
import { ReadOnlyTexts } from "./read_only_texts";
import { SourceLink } from "./source_link";

const HEAD = JSON.stringify({ protocol: 1, front_end: "/site/widgets/static/explorer.js" });
const open: WebviewPanel[] = [];

afterEach(() => {
  for (const panel of open.splice(0)) panel.dispose();
  Object.assign(seen, { settings: {}, extension: undefined, commands: [], shown: [], said: [] });
});

function opened(python: string, file = "/models/a [1].pt2") {
  if (python) seen.settings = { python };
  const texts = new ReadOnlyTexts();
  seen.provider = texts;
  const link = new SourceLink(texts);
  const editor = new ProgramEditor(Uri.file("/ext") as never, link);
  const panel = new WebviewPanel();
  open.push(panel);
  const document = editor.openCustomDocument(Uri.file(file) as never);
  editor.resolveCustomEditor(document, panel as never);
  panel.say({ kind: "ready" });
  return { panel, link };
}

test("a file is read by the Python of the setting, and drawn by that Python's front end", async () => {
  const folder = mkdtempSync(join(tmpdir(), "models-"));
  const python = new FakePython({ out: `${HEAD}\n{"attempts":[]}\n` });
  const { panel } = opened(python.path, join(folder, "m.pt2"));

  expect(await panel.next("show")).toEqual({
    kind: "show",
    frontEnd: "https://resource/site/widgets/static/explorer.js",
    page: '{"attempts":[]}\n',
  });
  expect(python.calls).toEqual([[folder, "-P", "-m", "explorer", "page", join(folder, "m.pt2")]]);
  expect(panel.webview.options.localResourceRoots?.map(String)).toEqual([
    "file:///ext/dist",
    "file:///site/widgets/static",
  ]);
  expect(panel.webview.html).toContain("https://resource/ext/dist/webview.js");
});

test("a file that was saved again is read again, whatever is in its name", async () => {
  const python = new FakePython({ out: `${HEAD}\n{}\n` });
  const { panel } = opened(python.path, join(python.folder, "a [1].pt2"));
  await panel.next("show");
  expect(seen.watched.at(-1)?.pattern).toBe("a [[]1[]].pt2");
  seen.fileChanged.fire(Uri.file("a [1].pt2"));
  await panel.next("show", 1);
  expect(python.calls).toHaveLength(2);
});

test("the Python extension's interpreter is taken where no setting says one", async () => {
  const python = new FakePython({ error: "export-explorer: It is not a program.\n", code: 2 });
  const environments = {
    getActiveEnvironmentPath: () => ({ path: "/env" }),
    resolveEnvironment: async () => ({ executable: { uri: Uri.file(python.path) } }),
  };
  seen.extension = { activate: async () => ({ environments }) };
  const { panel } = opened("", join(python.folder, "m.pt2"));
  expect(await panel.next("failed")).toMatchObject({ sentence: "It is not a program." });
});

test("no Python: what, where and what next; a click selects one, another tries again", async () => {
  const { panel } = opened("/nowhere/python", join(tmpdir(), "m.pt2"));
  const said = await panel.next("failed");
  expect(said.sentence).toContain("cannot be started as /nowhere/python: there is no such program");
  expect(said.cures).toEqual(["select-python", "settings", "retry"]);
  panel.say({ kind: "cure", cure: "settings" });
  expect(seen.commands).toEqual([["workbench.action.openSettings", "export-explorer.python"]]);
  seen.extension = { activate: async () => ({}) };
  panel.say({ kind: "cure", cure: "select-python" });
  await expect.poll(() => seen.commands.at(-1)).toEqual(["python.setInterpreter"]);
  seen.settings = { python: new FakePython({ out: `${HEAD}\n{}\n` }).path };
  panel.say({ kind: "cure", cure: "retry" });
  await panel.next("show");
});

test("another protocol is refused in a sentence", async () => {
  const python = new FakePython({ out: '{"protocol": 2, "front_end": "/x.js"}\n{}\n' });
  const { panel } = opened(python.path, join(python.folder, "m.pt2"));
  expect((await panel.next("failed")).sentence).toContain("Update both.");
});

function sourced(text: string) {
  const python = new FakePython({ out: `${HEAD}\n{}\n` });
  const file = join(python.folder, "model.py");
  writeFileSync(file, text);
  const { panel, link } = opened(python.path, join(python.folder, "m.pt2"));
  const sources: ExportedSource[] = [
    { path: file, name: "model.py", origin: "user", text: "a = 1\nb = 2\n" },
    { path: "/site/torch/nn/linear.py", name: "nn/linear.py", origin: "torch", text: null },
    { path: "/site/lib/blocks.py", name: "lib/blocks.py", origin: "library", text: "c = 3\n" },
  ];
  panel.say({ kind: "sources", sources });
  let asked = 0;
  const go = async (place: { file: number; line: number }) => {
    const from = panel.told.length;
    panel.say({ kind: "open", id: ++asked, place });
    return (await panel.next("done", from)).refused;
  };
  return { panel, link, file, go };
}

test("an op's line is shown in the user's file, a library's is only to be read", async () => {
  const { go, file } = sourced("a = 1\nb = 2\n");
  expect(await go({ file: 0, line: 2 })).toBe("");
  expect(await go({ file: 2, line: 1 })).toBe("");
  expect(seen.shown).toEqual([
    { uri: `${Uri.file(file)}`, line: 2 },
    { uri: "export-explorer:/blocks.py", line: 1 },
  ]);
  expect(await go({ file: 1, line: 1 })).toContain("was not saved with the program");
  expect(await go({ file: 9, line: 1 })).toContain("no such file");
});

test("a file that was edited since is not guessed at, one that is gone is shown as exported", async () => {
  expect(await sourced("a = 2\nb = 2\n").go({ file: 0, line: 2 })).toContain("was edited since");
  expect(seen.shown).toEqual([]);
  const { go, panel } = sourced("");
  const gone: ExportedSource = { path: "/gone/m.py", name: "m.py", origin: "user", text: "x\n" };
  panel.say({ kind: "sources", sources: [gone] });
  expect(await go({ file: 0, line: 1 })).toBe("");
  expect(seen.shown.at(-1)).toEqual({ uri: "export-explorer:/m.py", line: 1 });
});

test("a path of another host is not opened, though its text is there", async () => {
  const { go, panel, file } = sourced("a = 1\n");
  const away: ExportedSource = { path: `/${file}`, name: "m.py", origin: "user", text: "a = 1\n" };
  panel.say({ kind: "sources", sources: [away] });
  expect(await go({ file: 0, line: 1 })).toBe("");
  expect(seen.shown.at(-1)?.uri).toMatch(/^export-explorer:/);
});

test("the cursor marks its line in a view of that text; of an edited text, none", async () => {
  const { panel, link, file } = sourced("");
  const at = (text: string, line: number, path = file) =>
    link.moved({
      document: new TextDocument(Uri.file(path), text),
      selections: [{ active: { line } }],
    } as never);
  at("a = 1\nb = 2\n", 0, "/elsewhere.py");
  at("a = 1\nb = 2\n", 1);
  expect((await panel.next("follow")).place).toEqual({ file: 0, line: 2 });
  const from = panel.told.length;
  at("a = 1\n\nb = 2\n", 2);
  expect((await panel.next("follow", from)).place).toBeNull();
});

test("two texts of one name have two addresses", () => {
  const texts = new ReadOnlyTexts();
  const [one, two] = [texts.uriOf("/a/m.py", "1"), texts.uriOf("/b/m.py", "2")];
  expect(String(one)).not.toBe(String(two));
  expect(texts.provideTextDocumentContent(two)).toBe("2");
  expect(String(texts.uriOf("/a/m.py", "1"))).toBe(String(one));
});
