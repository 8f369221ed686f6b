import { render } from "preact";
import { act } from "preact/test-utils";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { ExportCase } from "../record.gen";
import { FakeModel } from "../testing/fake_model";
import { LibraryHost } from "./asks";
import { tagCounts } from "./CaseList";
import { withColours } from "./Editor";
import { find } from "./find";
import { Library } from "./Library";
import { LibraryStore } from "./store";
import { edited } from "./typing";

const CASES: ExportCase[] = [
  caseOf("cond_operands", { tags: ["torch.cond"], explains: ["A branch mutates its input"] }),
  caseOf("dynamic_shape_round", { tags: ["torch.dynamic-shape"], level: "not supported yet" }),
  caseOf("list_contains", { source: "<img src=x onerror=alert(1)>\n" }),
];

function caseOf(name: string, fields: Partial<ExportCase> = {}): ExportCase {
  return {
    name,
    title: `About ${name}`,
    description: `About ${name}.\nMore of it.`,
    tags: [],
    level: "supported",
    source: "import torch\n",
    inputs: [{ path: "x", text: "f32[3, 2]" }],
    shapes: "",
    explains: [],
    ...fields,
  };
}

let page: HTMLElement;
let store: LibraryStore;
let shown = false;
const replies: { [ask: string]: unknown } = {};

beforeEach(() => {
  page = document.createElement("div");
  page.className = "tx-root";
  document.body.append(page);
  Object.assign(replies, {
    cases: { cases: CASES, torch: "2.13.0" },
    breaks: { pages: [] },
    colour: { lines: [] },
    try: { problem: "", line: 0, lookouts: [["Graph", "the code became these ops: add"]] },
  });
});
afterEach(() => {
  render(null, page);
  page.remove();
  if (shown) store.dispose();
  shown = false;
});

async function show(query = "", section = "cases") {
  const model = new FakeModel({ section, query, attempts: [], record: null, current: 0 });
  store = new LibraryStore(new LibraryHost(model));
  shown = true;
  vi.spyOn(store.host, "look").mockImplementation((ask) => Promise.resolve(replies[ask] as never));
  await act(async () => render(<Library store={store} />, page));
  return store;
}

const names = (): (string | undefined)[] =>
  [...page.querySelectorAll<HTMLElement>(".tx-found-item")].map((each) => each.dataset.name);

test("a kernel that is busy is said to be, while the cases are waited for", async () => {
  vi.useFakeTimers();
  try {
    Object.assign(replies, { cases: new Promise(() => undefined) });
    await show();
    expect(page.textContent).toContain("Fetching the cases…");
    await act(async () => void vi.advanceTimersByTime(2000));
    expect(page.textContent).toContain("The kernel is busy. It sends the cases when");
  } finally {
    vi.useRealTimers();
  }
});

test("all cases are listed, and a case that is named is opened", async () => {
  await show("cond_operands");
  expect(names()).toEqual(["cond_operands", "dynamic_shape_round", "list_contains"]);
  expect(page.querySelector("h2")?.textContent).toBe("cond_operands");
  expect(page.textContent).toContain("failures of the kind: A branch mutates its input");
});

test("a tag that is named narrows the list, and all can be shown again", async () => {
  await show("torch.dynamic-shape");
  expect(names()).toEqual(["dynamic_shape_round"]);
  expect(page.textContent).toContain("1 of 3 cases");
  await act(() =>
    [...page.querySelectorAll("button")].find((b) => b.textContent === "show all")?.click(),
  );
  expect(names()).toHaveLength(3);
});

test("words that nothing has say what to do", async () => {
  await show("no such words");
  expect(page.textContent).toContain("No matching cases");
  expect(page.textContent).toContain("Choose a case");
});

test("a text of the library is never HTML", async () => {
  await show("list_contains");
  expect(page.querySelector("img")).toBeNull();
  expect(page.querySelector("textarea")?.value).toContain("<img");
});

test("an edited text is sent, its problem is shown at its line, and it can be undone", async () => {
  await show("cond_operands");
  const area = page.querySelector("textarea") as HTMLTextAreaElement;
  await act(() => {
    area.value = "import torch\nx = (";
    area.dispatchEvent(new Event("input", { bubbles: true }));
  });
  expect(page.querySelector('[data-name="cond_operands"]')?.textContent).toContain("edited");
  replies.try = { problem: "This is no Python", line: 2, lookouts: [] };
  const button = page.querySelector('[data-testid="try-case"]') as HTMLButtonElement;
  expect(button.textContent).toBe("Export the edited code");
  await act(async () => button.click());
  expect(store.host.look).toHaveBeenCalledWith("try", {
    name: "cond_operands",
    source: "import torch\nx = (",
  });
  expect(page.querySelector('[role="alert"]')?.textContent).toBe("Line 2: This is no Python");
  expect(page.querySelector(".tx-failing")?.getAttribute("data-line")).toBe("2");
  expect(store.tried.value.count).toBe(0);
  await act(() => store.edit(CASES[0] as ExportCase, "import torch\n"));
  expect(page.querySelector('[role="alert"]')).toBeNull();
  expect(button.textContent).toBe("Export it live");
});

test("a refusal of the kernel is said, and the next try is possible", async () => {
  await show("cond_operands");
  vi.mocked(store.host.look).mockRejectedValueOnce(new Error("Interrupted. Nothing has changed."));
  await act(() => store.try(CASES[0] as ExportCase));
  expect(page.querySelector('[role="alert"]')?.textContent).toContain("Interrupted");
  await act(() => store.try(CASES[0] as ExportCase));
  expect(store.tried.value.count).toBe(1);
  expect(page.querySelector(".tx-lookouts")?.textContent).toContain(
    "What to look at in the view below",
  );
});

test("the arrows walk along the list", async () => {
  await show();
  const [first, second] = page.querySelectorAll<HTMLElement>(".tx-found-item");
  first?.focus();
  first?.dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowDown", bubbles: true }));
  expect(document.activeElement).toBe(second);
});

test("a search ranks by where the words are", () => {
  const texts = (each: ExportCase): string[] => [each.name, each.tags.join(" "), each.source];
  expect(find(CASES, "TORCH", texts).map(({ name }) => name)).toEqual([
    "cond_operands",
    "dynamic_shape_round",
  ]);
  expect(find(CASES, "cond torch", texts)).toHaveLength(1);
  expect(find(CASES, "", texts)).toHaveLength(3);
  expect(find(CASES, "cond round", texts)).toEqual([]);
});

test("tags are counted, the most first", () => {
  expect(tagCounts([caseOf("a", { tags: ["y", "x"] }), caseOf("b", { tags: ["y"] })])).toEqual([
    ["y", 2],
    ["x", 1],
  ]);
});

test("colours stay on the lines that are the same, from both ends", () => {
  const coloured: [string, string][][] = [[["k", "one"]], [["k", "two"]], [["k", "three"]]];
  expect(withColours(["one", "new", "", "three"], coloured)).toEqual([
    [["k", "one"]],
    [["", "new"]],
    [],
    [["k", "three"]],
  ]);
});

test("Enter keeps the indent, and Tab moves lines", () => {
  const key = (name: string, shiftKey = false) => ({ key: name, shiftKey });
  expect(edited("  if x:", 7, 7, key("Enter"))?.text).toBe("\n      ");
  expect(edited("  x", 3, 3, key("Enter"))?.text).toBe("\n  ");
  expect(edited("x", 0, 0, key("Tab"))).toEqual({ start: 0, end: 0, text: "    " });
  expect(edited("a\nb", 0, 3, key("Tab"))?.text).toBe("    a\n    b");
  expect(edited("    a\n  b", 5, 9, key("Tab", true))?.text).toBe("a\nb");
  expect(edited("x", 0, 0, key("a"))).toBeNull();
});
