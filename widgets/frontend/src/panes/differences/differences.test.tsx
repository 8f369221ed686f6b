import { render } from "preact";
import { act } from "preact/test-utils";
import { expect, test } from "vitest";
import { CompareBar } from "../../compare/CompareBar";
import { Comparison } from "../../compare/comparison";
import { entriesOf, nodesOf, summaryOf } from "../../compare/entries";
import { stepDifference } from "../../compare/stepping";
import { Program } from "../../program";
import type { Change, Difference, GraphDiff, LevelRow, ProgramDiff } from "../../record.gen";
import { type FakeHost, storeOf } from "../../testing/fake_host";
import { freshPage, page } from "../../testing/page";
import { RecordBuilder } from "../../testing/records";
import { soon } from "../../testing/soon";
import { Decompose } from "../decompose/Decompose";
import { byReason, Differences } from "./Differences";

const MARKUP = "<img src=x onerror=alert(1)>";

freshPage();

function program(...ops: string[]): RecordBuilder {
  const build = new RecordBuilder("net(x)");
  let last = build.input("x", [4]);
  for (const op of ops) last = build.call(op, [last]);
  build.output([last]);
  return build;
}

const change = (what: Change["what"], follows = false): Change => ({
  what,
  before: "f32[4]",
  after: MARKUP,
  follows,
});

const diffOf = (graph: Partial<GraphDiff>, others: ProgramDiff["others"] = []): ProgramDiff => ({
  before: "a",
  after: "b",
  symbols: [["n", "batch"]],
  others,
  renamed: [],
  modules: [],
  identical: false,
  weights: "1 weight has different values: lin.bias.",
  graphs: [
    { before: 0, after: 0, title: "main", pairs: [], removed: [], added: [], became: [], ...graph },
  ],
});

test("what only follows from another change is left out", () => {
  const pairs = [
    {
      before: 1,
      after: 1,
      why: "structure" as const,
      changes: [change("op"), change("type", true)],
    },
    { before: 2, after: 2, why: "structure" as const, changes: [change("type", true)] },
    { before: 3, after: 3, why: "input" as const, changes: [] },
  ];
  const [before, after] = [program("relu", "sin", "exp"), program("relu", "cos", "abs")].map(
    (build) => new Program(build.record()),
  ) as [Program, Program];
  const programs = { before, after };
  const entries = entriesOf(diffOf({ pairs, removed: [2], added: [3] }), programs);
  expect(entries.map((each) => each.kind)).toEqual(["changed", "removed", "added"]);
  expect(entries[0]?.changes.map((each) => each.what)).toEqual(["op"]);
  expect(nodesOf(entries)).toEqual([1, 3]);
  expect(summaryOf(entries, [], false)).toBe("1 changed, 1 added, 1 removed.");
  expect(summaryOf([], [], true)).toBe("Identical up to names.");
  expect(summaryOf([], [], false)).toBe("Not proven to be identical.");
  const unlike = entriesOf(diffOf({ removed: [0], added: [0] }), programs);
  expect(unlike, "inputs are told of as the signature's").toEqual([]);
});

test("differences are listed as text, and one goes from one to the next", async () => {
  const record = program("relu", "sin").record();
  const { store, program: shown } = storeOf(record);
  const before = new Program(program("relu", "cos").record());
  const pairs = [{ before: 2, after: 2, why: "neighbours" as const, changes: [change("op")] }];
  const others = [{ kind: "symbol" as const, name: "n", before: "[2, 9]", after: "" }];
  store.comparison.value = new Comparison(
    0,
    before,
    shown,
    diffOf({ pairs, removed: [1] }, others),
  );
  await act(() => render(<Differences store={store} program={shown} />, page));
  expect(page.textContent).toContain(MARKUP);
  expect(page.querySelector("img")).toBeNull();
  expect(page.textContent).toContain("n → batch");
  const weights = page.querySelector("[data-testid=weights]");
  expect(weights?.textContent).toBe("1 weight has different values: lin.bias.");
  expect(weights?.className).not.toContain("tx-lead"); // as plain as that the graphs are identical
  expect(page.textContent).toContain("1 difference outside of the graph");
  expect(page.querySelectorAll('[data-testid="difference"]')).toHaveLength(2);
  await act(() => stepDifference(store, 1));
  expect(store.selection.value).toEqual({ kind: "removed", node: 1 });
  await act(() => stepDifference(store, 1));
  expect(store.selection.value).toEqual({ kind: "nodes", nodes: [2] });
  expect(page.querySelectorAll(".tx-difference.tx-lit")).toHaveLength(1);
  await act(() => stepDifference(store, -1));
  expect(store.selection.value).toEqual({ kind: "removed", node: 1 });
});

test("which difference of how many is told in words", async () => {
  const { store, program: shown } = storeOf(program("relu", "sin").record());
  const before = new Program(program("relu", "cos").record());
  const comparison = new Comparison(0, before, shown, diffOf({ removed: [1], added: [2] }));
  store.comparison.value = comparison;
  await act(() => render(<CompareBar store={store} comparison={comparison} />, page));
  const told = () => {
    const heard = page.querySelector("[role=status]")?.cloneNode(true) as Element;
    heard.querySelector("[aria-hidden=true]")?.remove();
    return heard.textContent;
  };
  expect(told()).toBe("2 differences");
  await act(() => stepDifference(store, 1));
  expect(told()).toBe("Difference 1 of 2");
});

test("a renamed module is one difference, with all that is in it", async () => {
  const { store, program: shown } = storeOf(program("relu", "sin").record());
  const before = new Program(program("relu", "cos").record());
  const pairs = [1, 2].map((at) => ({
    before: at,
    after: at,
    why: "weights" as const,
    changes: [{ ...change("scope"), before: "layers.0.mlp", after: "layers.0.ffn" }],
  }));
  const input = (name: string, was: string, is: string) => ({
    kind: "input" as const,
    name,
    before: was,
    after: is,
  });
  const others = [
    input("layers.0.mlp.weight", "f32[4]", ""),
    input("layers.0.ffn.weight", "", "f32[4]"),
  ];
  const renamed = [
    { before: "layers.0.mlp", after: MARKUP, modules: 1, pairs: [[0, 1]], others: [0, 1] },
  ];
  const diff = { ...diffOf({ pairs, added: [3] }, others), renamed };
  store.comparison.value = new Comparison(0, before, shown, diff);
  await act(() => render(<Differences store={store} program={shown} />, page));
  const rows = page.querySelectorAll('[data-testid="difference"]');
  expect(rows).toHaveLength(2);
  expect(rows[0]?.textContent).toContain(`layers.0.mlp → ${MARKUP}`);
  expect(rows[0]?.textContent).toContain("2 nodes and 1 input, otherwise the same");
  expect(page.textContent).toContain("1 added, 1 module renamed.");
  expect(page.textContent).not.toContain("outside of the graph");
  await act(() => stepDifference(store, 1));
  expect(store.selection.value).toEqual({ kind: "nodes", nodes: [1, 2] });
});

test("a module that only one program calls is one difference", async () => {
  const { store, program: shown } = storeOf(program("relu", "sin", "cos").record());
  const before = new Program(program("relu", "exp", "abs").record());
  const added = { name: "head.weight", before: "", after: "f32[4]" };
  const others = [{ kind: "input" as const, ...added }];
  const lone = { cls: MARKUP, graph: 0, nodes: [2, 3] };
  const modules = [
    { ...lone, kind: "added" as const, path: "head", others: [0] },
    { ...lone, kind: "removed" as const, path: "old", others: [] },
  ];
  const diff = { ...diffOf({ removed: [2, 3], added: [2, 3] }, others), modules };
  store.comparison.value = new Comparison(0, before, shown, diff);
  await act(() => render(<Differences store={store} program={shown} />, page));
  const rows = [...page.querySelectorAll('[data-testid="difference"]')].map(
    (row) => row.textContent,
  );
  expect(rows).toEqual([
    `− old ${MARKUP}, a module removed: 2 nodes`,
    `+ head ${MARKUP}, a module added: 2 nodes and 1 input`,
  ]);
  expect(page.textContent).toContain("1 added, 1 removed.");
  await act(() => stepDifference(store, 1));
  expect(store.selection.value).toEqual({ kind: "removed", node: 2 });
  await act(() => stepDifference(store, 1));
  expect(store.selection.value).toEqual({ kind: "nodes", nodes: [2, 3] });
});

const LEVEL: LevelRow = {
  table: "core",
  origins: [-1, -1, -1],
  fallback: [],
  untied: [],
  replaced: [
    {
      op: "aten.linear.default",
      count: 2,
      into: ["aten.addmm.default ×2"],
      function: "",
      file: -1,
      line: 0,
    },
  ],
  outside: ["custom.op.default ×1"],
};

test("a table is sent as it was typed, and what became of ops is shown", async () => {
  const record = { ...program("relu").record(), level: LEVEL };
  const { store, program: shown } = storeOf(record);
  await act(() => render(<Decompose store={store} program={shown} />, page));
  expect(page.textContent).toContain("aten.linear.default ×2");
  expect(page.textContent).toContain("1 kind of op outside Core ATen");
  const box = page.querySelector("input") as HTMLInputElement;
  await act(() => {
    box.value = "core -linear";
    box.dispatchEvent(new Event("input", { bubbles: true }));
  });
  await act(() => page.querySelector("form")?.requestSubmit());
  expect((store.host as FakeHost).requests.at(-1)).toMatchObject({ table: "core -linear" });
});

test("ops are ticked, and the text follows; the text is typed, and the ticks follow", async () => {
  const { store, program: shown } = storeOf(program("linear", "relu").record(), {
    decomposable: ["aten.gelu.default", "aten.linear.default"],
  });
  await act(() => render(<Decompose store={store} program={shown} />, page));
  await act(() => button("choose ops").click());
  const ticks = (): HTMLInputElement[] => [...page.querySelectorAll<HTMLInputElement>("li input")];
  await soon(() => expect(ticks()).toHaveLength(2));
  expect(page.querySelector("li")?.textContent).toContain("aten.linear.default ×1 here");
  expect(ticks().map((each) => each.checked)).toEqual([true, true]);
  await act(() => ticks()[0]?.click());
  const text = page.querySelector("input[type=text]") as HTMLInputElement;
  expect(text.value).toBe("core -aten.linear.default");
  await act(() => button("None").click());
  expect(ticks().map((each) => each.checked)).toEqual([false, false]);
  await act(() => ticks()[1]?.click());
  expect(text.value).toBe("only aten.gelu.default");
});

function button(name: string): HTMLButtonElement {
  const found = [...page.querySelectorAll("button")].find((each) => each.textContent === name);
  if (!found) throw new Error(`no button ${name}`);
  return found;
}

test("sizes that are rejected for one reason are one row", () => {
  const row = (kind: Difference["kind"], name: string, after: string): Difference => ({
    kind,
    name,
    before: "accepted",
    after,
  });
  const rows = byReason([
    row("sizes", "x.shape[0] = 0", "rejected: 6"),
    row("sizes", "x.shape[0] = 1", "rejected: 6"),
    row("sizes", "y.shape[1] = 3", "rejected: 6"),
    row("sizes", "x.shape[0] = 9", "rejected: 8"),
    row("input", "x", "f32[6]"),
  ]);
  expect(rows.map(({ name }) => name)).toEqual([
    "x.shape[0] = 0, 1; y.shape[1] = 3",
    "x.shape[0] = 9",
    "x",
  ]);
});
