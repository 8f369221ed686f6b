import { afterEach, expect, test } from "vitest";
import type { Store } from "../store";
import { storeOf } from "../testing/fake_host";
import { tracedRecord } from "../testing/models";
import { cellOf, countOf, whyNot } from "./cells";
import { joinEditor } from "./join";
import { isSameText, lineInEditor, lineInKernel } from "./lines_as_run";
import { type Editor, offerEditor, VERSION, type View } from "./link";

const cell = (name: string, path = "/tmp/ipykernel_1/2.py") =>
  ({ name, path, origin: "cell" }) as const;

test("a cell's lines are those that the kernel counts", () => {
  const typed = '\n\n  %export \\\n    -d "x: a" \\\n    f(x)\n  y = 1\n\n';
  const ran = '%export -d "x: a" f(x)\ny = 1\n';
  expect(isSameText(typed, ran)).toBe(true);
  expect(lineInEditor(typed, 2)).toBe(6);
  expect([3, 5, 6, 1].map((line) => lineInKernel(typed, line))).toEqual([1, 1, 2, 0]);
});

test("what matters to Python is compared, what does not matter to a magic is not", () => {
  expect(isSameText("ex = %export  f(x)", "ex = %export f(x)")).toBe(true);
  expect(isSameText("%%export -d 'x: a'\nf(x)", "# %%export -d 'x: a'\nf(x)\n")).toBe(true);
  expect(isSameText("model?", "%pinfo model")).toBe(true);
  expect(isSameText("if a:\n  b", "if a:\n    b")).toBe(false);
  expect(isSameText("s = 'a  b'", "s = 'a b'")).toBe(false);
  expect(isSameText("x %  2", "x % 2")).toBe(false);
});

test("a cell is known by its text, and by its count where several have that text", () => {
  const cells = [
    { text: "a = 1", count: 1 },
    { text: "a = 1", count: 4 },
    { text: "b = 2", count: null },
  ];
  expect(cellOf(cells, cell("Cell In[4]"), "a = 1\n")).toEqual({ kind: "same", index: 1 });
  expect(cellOf(cells, cell("Cell In[9]"), "a = 1")).toEqual({ kind: "same", index: 0 });
  expect(cellOf(cells, cell("Cell In[4]"), "a = 3")).toEqual({ kind: "edited", index: 1 });
  expect(cellOf(cells, cell("Cell In[7]"), "c = 3")).toEqual({ kind: "gone" });
  expect(countOf(cell("Cell In[12] (fixed)"))).toBe(12);
  expect(countOf(cell("%export"))).toBeNull();
});

test("why a line is not shown says what to do", () => {
  expect(whyNot(cell("Cell In[2]"), "edited")).toContain("Cell In[2] was edited since");
  expect(whyNot(cell("Cell In[2]"), "gone")).toContain("edited or deleted");
  const fixed = cell("Cell In[2] (fixed)", "/tmp/ipykernel_1/2.py (fixed 0a1b2c3d)");
  expect(whyNot(fixed, "edited")).toContain("write the fix into your code first");
});

let leave = (): void => {};
afterEach(() => {
  leave();
  offerEditor({ version: 0 } as Editor); // of another version: none that views know
});

const WRITING = {
  changes: [{ path: "/a.py", name: "a.py", origin: "user", before: "", hunks: [] }],
  shapes: "",
  cell: "",
  call: "f(x)",
  others: [],
} as const;

function joined(text = "one\ntwo"): { store: Store; views: View[] } {
  const { store } = storeOf(tracedRecord().record(), {
    sources: { 0: text },
    action: (kind) => (kind === "writing" ? WRITING : null),
  });
  const views: View[] = [];
  leave = joinEditor(store, document.createElement("div"), () => "a.ipynb");
  const editor: Editor = {
    version: VERSION,
    join: (view) => {
      views.push(view);
      return () => void views.splice(views.indexOf(view), 1);
    },
    open: () => Promise.reject(new Error("It was edited.")),
    write: async (_, writing) => writing.changes.map(({ name }) => name),
  };
  offerEditor(editor);
  return { store, views };
}

test("a view joins an editor that comes later, once, and leaves it", () => {
  const { store, views } = joined();
  expect(views).toHaveLength(1);
  expect(views[0]?.notebook).toBe("a.ipynb");
  leave();
  expect(views).toHaveLength(0);
  expect(store.editor.value).toBeNull();
});

test("a page without a kernel opens lines, and writes nothing", () => {
  const { store } = storeOf(tracedRecord().record(), { live: false });
  offerEditor({ version: VERSION, join: () => () => {} } as unknown as Editor);
  leave = joinEditor(store, document.createElement("div"), () => "");
  expect(store.editor.value?.open).toBeDefined();
  expect(store.editor.value?.write).toBeNull();
});

test("an editor of another version is none", () => {
  const { store } = storeOf(tracedRecord().record());
  offerEditor({ version: VERSION + 1 } as Editor);
  leave = joinEditor(store, document.createElement("div"), () => "");
  expect(store.editor.value).toBeNull();
});

test("the cursor selects its line's ops, is one step to go back from, and a line without ops clears", () => {
  const { store, views } = joined();
  const [view] = views;
  store.select({ kind: "nodes", nodes: [0] }, "graph");
  view?.follow({ file: 0, line: 1 });
  expect(store.selection.value).toEqual({ kind: "nodes", nodes: [0] });
  view?.follow({ file: 0, line: 3 });
  view?.follow({ file: 0, line: 4 });
  expect(store.selection.value).toEqual({ kind: "line", file: 0, line: 4 });
  view?.follow(null);
  expect(store.selection.value.kind).toBe("none");
  store.back();
  expect(store.selection.value).toEqual({ kind: "nodes", nodes: [0] });
});

test("a line that goes on with an expression has the ops of the line that it begins on", async () => {
  const { store, views } = joined("\n\nx = f(\n    y,\n    z,\n)\nw\n");
  const [view] = views;
  view?.follow({ file: 0, line: 5 });
  await expect.poll(() => store.selection.value).toEqual({ kind: "line", file: 0, line: 3 });
  view?.follow({ file: 0, line: 6 });
  view?.follow({ file: 0, line: 4 }); // overtakes it
  await Promise.resolve();
  expect(store.selection.value).toEqual({ kind: "line", file: 0, line: 4 });
  view?.follow({ file: 0, line: 7 });
  await expect.poll(() => store.selection.value.kind).toBe("none");
});

test("what the editor refuses is said in the view, and the text is what was exported", async () => {
  const { store, views } = joined();
  await store.editor.value?.open({ file: 0, line: 1 });
  expect([store.ended.value, store.refused.value]).toEqual(["It was edited.", true]);
  expect(await views[0]?.text(0)).toBe("one\ntwo");
});

test("what was written is said, and that undo takes it back", async () => {
  const { store } = joined();
  await store.editor.value?.write?.([0]);
  expect(store.ended.value).toContain("Written into a.py; undo in the editor");
  expect(store.refused.value).toBe(false);
});
