import { render } from "preact";
import { act } from "preact/test-utils";
import { afterEach, expect, test } from "vitest";
import { LINE } from "../decorations/lines";
import type { Record } from "../record.gen";
import { App } from "../shell/App";
import { type Answers, plainLines, storeOf } from "../testing/fake_host";
import { branchingProgram, CELL, layeredProgram, tracedRecord } from "../testing/models";
import { failureOf, RecordBuilder } from "../testing/records";
import { Failure } from "./failure/Failure";
import { Inspector } from "./inspector/Inspector";
import { Outline } from "./outline/Outline";
import { Shapes } from "./shapes/Shapes";
import { Signature } from "./signature/Signature";
import { Code } from "./source/Code";
import { Source } from "./source/Source";

const page = document.createElement("div");
document.body.append(page);
afterEach(() => render(null, page));

const PANES = { Code, Inspector, Outline, Shapes, Signature, Source };

/** A pane on a record, once what it asked for has come. */
async function show(name: keyof typeof PANES, record: Record, answers: Answers = {}) {
  const { store, program } = storeOf(record, answers);
  const Pane = PANES[name];
  await act(async () => render(<Pane store={store} program={program} />, page));
  await settle();
  const select = async (change: () => void): Promise<void> => {
    await act(change);
    await settle();
  };
  return { store, program, select };
}

/** Lets answers arrive and their effects run. */
const settle = (): Promise<void> => act(() => new Promise((resolve) => setTimeout(resolve, 30)));

const text = (): string => page.textContent ?? "";
const press = (element: Element | null | undefined): Promise<void> =>
  act(() => (element as HTMLElement).click());
const button = (name: string): Element | undefined =>
  [...page.querySelectorAll("button")].find((each) => each.textContent?.trim() === name);
const named = (program: { allNodes(): Iterable<number>; name(id: number): string }, name: string) =>
  [...program.allNodes()].find((id) => program.name(id) === name) ?? -1;

test("the inspector shows the program where nothing is selected", async () => {
  await show("Inspector", tracedRecord().record());
  expect(text()).toContain("1 parameter");
  expect(text()).toContain("aten.linear.default");
});

test("the inspector links an op to what it reads, what reads it, its module and its lines", async () => {
  const { store, program, select } = await show("Inspector", tracedRecord().record());
  await select(() => store.select({ kind: "nodes", nodes: [named(program, "linear")] }, "graph"));
  for (const name of ["lin.weight", "x", "sym_size", "mul", "lin", "Cell In[2]:3"]) {
    expect(button(name), name).toBeDefined();
  }
  await press(button("Cell In[2]:3"));
  expect(store.place.value).toEqual({ file: 0, line: 3 });
  await press(button("mul"));
  expect(store.selection.value).toEqual({ kind: "nodes", nodes: [named(program, "mul")] });
});

test("the inspector folds the frames of libraries beside the user's own", async () => {
  const { store, program, select } = await show("Inspector", tracedRecord().record());
  await select(() => store.select({ kind: "nodes", nodes: [named(program, "linear")] }, "graph"));
  expect(button("torch/nn/modules/linear.py:134")).toBeUndefined();
  await press(button("1 frame of libraries"));
  expect(button("torch/nn/modules/linear.py:134")).toBeDefined();
});

test("the inspector marks the arguments that a schema says are written to", async () => {
  const record = tracedRecord().record();
  const [target] = record.targets;
  if (target) {
    target.schema = "aten::add_(Tensor(a!) self, Tensor(b) other) -> Tensor(a!)";
    target.mutates = ["self"];
  }
  const { store, program, select } = await show("Inspector", record);
  await select(() => store.select({ kind: "nodes", nodes: [named(program, "linear")] }, "graph"));
  const written = [...page.querySelectorAll(".tx-written")].map((each) => each.textContent);
  expect(written).toEqual(["(a!)", "(a!)"]);
  expect(text()).toContain("writes to self");
});

test("the inspector sums up a module, a line, a size and several ops", async () => {
  const { store, select } = await show("Inspector", tracedRecord().record());
  await select(() => store.select({ kind: "scope", scope: 1 }, "outline"));
  expect(text()).toContain("models.Linear");
  await select(() => store.select({ kind: "line", file: 0, line: 4 }, "source"));
  expect(text()).toContain("made 1 op");
  await select(() => store.select({ kind: "symbol", symbol: 0 }, "shapes"));
  expect(text()).toContain("[2, ∞)");
  await select(() => store.select({ kind: "nodes", nodes: [0, 1, 2] }, "graph"));
  expect(text()).toContain("3 ops");
});

test("source shows the selected op's line, and a press on a line selects its ops", async () => {
  const { store, program, select } = await show("Source", tracedRecord().record(), {
    sources: { 0: CELL },
  });
  await select(() => store.select({ kind: "nodes", nodes: [named(program, "linear")] }, "graph"));
  const lit = [...page.querySelectorAll("[aria-current]")].map((line) => line.textContent);
  expect(lit).toEqual(["31    y = self.lin(x)"]);
  await press(page.querySelector('[data-line="4"]'));
  expect(store.selection.value).toEqual({ kind: "line", file: 0, line: 4 });
  await press(page.querySelector('[data-line="1"]'));
  expect(store.selection.value).toEqual({ kind: "line", file: 0, line: 4 });
});

test("source shows what in a line is not seen or turns it", async () => {
  const code = 'role != "user\u202e\u2066":';
  await show("Source", tracedRecord().record(), { sources: { 0: code } });
  const line = page.querySelector('[data-line="1"]')?.textContent;
  expect(line).toContain('role != "userU+202EU+2066":');
  expect(page.querySelectorAll(".tx-unseen")).toHaveLength(2);
});

test("source colours its lines like the ops that they made, and stops to", async () => {
  const { store, program } = await show("Source", tracedRecord().record(), {
    sources: { 0: CELL },
  });
  const colours = (): string[] =>
    [...page.querySelectorAll<HTMLElement>(".tx-line")].map((line) =>
      line.style.getPropertyValue("--tx-line-colour"),
    );
  expect(colours().filter(Boolean)).toEqual([]);
  await act(() => store.colourBy(LINE));
  const ofOp = store.colouring.value?.marks.get(named(program, "linear"))?.colour;
  expect(colours()[2]).toBe(ofOp);
  expect(colours()[3]).not.toBe(ofOp);
  expect(colours()[0]).toBe("");
  await act(() => store.colourBy("none"));
  expect(colours().filter(Boolean)).toEqual([]);
});

test("source walks by keys and selects with Enter", async () => {
  const { store } = await show("Source", tracedRecord().record(), { sources: { 0: CELL } });
  const list = page.querySelector("[role=listbox]");
  const key = (name: string): Promise<void> =>
    act(() => void list?.dispatchEvent(new KeyboardEvent("keydown", { key: name, bubbles: true })));
  for (const name of ["ArrowDown", "ArrowUp", "Enter"]) await key(name);
  expect(store.selection.value).toEqual({ kind: "line", file: 0, line: 3 });
});

test("source says why a file is not there", async () => {
  await show("Source", tracedRecord().record());
  expect(text()).toContain("That is not on this machine.");
});

test("source offers the user's cells first", async () => {
  await show("Source", tracedRecord().record(), { sources: { 0: CELL } });
  const groups = [...page.querySelectorAll("optgroup")].map((each) => each.label);
  expect(groups).toEqual(["Notebook cells", "Libraries", "torch"]);
});

test("source leads from a line to the lines that called it", async () => {
  const { store, select } = await show("Source", tracedRecord().record(), {
    sources: { 1: "a\n" },
  });
  await select(() => store.select({ kind: "line", file: 1, line: 10 }, "inspector"));
  await press(button("Cell In[2]:4"));
  expect(store.place.value).toEqual({ file: 0, line: 4 });
});

test("the signature groups what the program takes, holds and returns", async () => {
  const { store, program } = await show("Signature", tracedRecord().record());
  const captions = [...page.querySelectorAll("caption, summary")].map((each) => each.textContent);
  expect(captions.map((each) => each?.split(" ")[0])).toEqual(["Inputs", "Parameters", "Outputs"]);
  const row = [...page.querySelectorAll("tr")].find((each) =>
    each.textContent?.includes("lin.weight"),
  );
  await press(row);
  expect(store.selection.value).toEqual({ kind: "nodes", nodes: [named(program, "p_lin_weight")] });
});

test("a row that is pressed has a button of its name, and the arrows go to the next row's", async () => {
  const build = new RecordBuilder();
  build.output([build.input("x", [4]), build.input("y", [4])]);
  const { store, program } = await show("Signature", build.record());
  const x = button("x") as HTMLElement;
  x.focus();
  const down = new KeyboardEvent("keydown", { key: "ArrowDown", bubbles: true });
  await act(() => void x.dispatchEvent(down));
  const y = document.activeElement;
  expect(y).toBe(button("y"));
  expect(y?.closest("tr")?.matches("[tabindex], [role]")).toBe(false);
  await press(y);
  expect(store.selection.value).toEqual({ kind: "nodes", nodes: [named(program, "y")] });
});

test("the signature folds many parameters, and shows one kind alone", async () => {
  const build = new RecordBuilder();
  for (let index = 0; index < 30; index++) build.parameter(`layer.${index}`, [4]);
  build.output([build.input("x", [4])]);
  await show("Signature", build.record());
  expect(text()).toContain("30 tensors");
  expect(text()).not.toContain("layer.7");
  await press(button("parameter 30"));
  expect(text()).toContain("layer.7");
  expect(text()).not.toContain("Returned as");
});

test("shapes show each size with its range, and guards light up with their line", async () => {
  const { store, select } = await show("Shapes", tracedRecord().record());
  expect(text()).toContain("batch");
  expect(text()).toContain("[2, ∞)");
  await select(() => store.select({ kind: "line", file: 0, line: 4 }, "source"));
  expect(page.querySelector("tr.tx-lit")?.textContent).toContain("batch <= 16");
  await press(page.querySelector("[data-testid=symbol-0]"));
  expect(store.selection.value).toEqual({ kind: "symbol", symbol: 0 });
});

test("shapes say how to let a size vary where none does", async () => {
  const build = new RecordBuilder();
  build.output([build.input("x", [4])]);
  await show("Shapes", build.record());
  expect(text()).toContain("%export -d");
});

test("code ties a line to its node, both ways", async () => {
  const code = { lines: plainLines("x = input\ny = linear(x)"), nodes: [1, 2] };
  const { store, select } = await show("Code", tracedRecord().record(), { code });
  await press(page.querySelector('[data-line="2"]'));
  expect(store.selection.value).toEqual({ kind: "nodes", nodes: [2] });
  await select(() => store.select({ kind: "nodes", nodes: [1] }, "graph"));
  expect(page.querySelector("[aria-current]")?.textContent).toContain("x = input");
});

test("code has one line for many parameters, until it is pressed", async () => {
  const build = new RecordBuilder();
  const held = Array.from({ length: 5 }, (_, at) => build.parameter(`layers.${at}.weight`, [4]));
  const x = build.input("x", [4]);
  build.output([build.call("op", [x, ...held])]);
  const names = [
    "def forward(self,",
    ...held.map((at) => `    w${at},`),
    "    x):",
    "    return op",
  ];
  const code = { lines: plainLines(names.join("\n")), nodes: [-1, ...held, x, x + 1] };
  await show("Code", build.record(), { code });
  expect(page.querySelectorAll("[data-line]")).toHaveLength(4);
  expect(text()).toContain("… 5 parameters, buffers and constants");
  expect(page.querySelector('[data-line="7"]')?.textContent).toContain("x):");
  await press(page.querySelector('[data-line="2"]'));
  expect(page.querySelectorAll("[data-line]")).toHaveLength(8);
});

test("code goes to the branch that a selected node is in", async () => {
  const { program } = storeOf(branchingProgram().record);
  const inside = program.branchesOf(named(program, "cond"))[1]?.nodes[0] ?? -1;
  const code = { lines: plainLines("x"), nodes: [0] };
  const { store, select } = await show("Code", program.record, { code });
  await select(() => store.select({ kind: "nodes", nodes: [inside] }, "graph"));
  expect(page.querySelector("select")?.selectedIndex).toBe(2);
});

test("the outline keeps few rows in the page, however many ops there are", async () => {
  const build = new RecordBuilder();
  let value = build.input("x", [4]);
  for (let index = 0; index < 5000; index++) value = build.call("relu", [value]);
  await show("Outline", build.record());
  expect(page.querySelectorAll("[role=treeitem]").length).toBeLessThan(100);
});

test("the outline opens to what is selected elsewhere", async () => {
  const { store, program, select } = await show("Outline", layeredProgram(2).record);
  await select(() => store.select({ kind: "nodes", nodes: [named(program, "add_1")] }, "graph"));
  const selected = page.querySelectorAll("[role=treeitem][aria-selected=true]");
  expect([...selected].map((each) => each.querySelector(".tx-row-name")?.textContent)).toEqual([
    "add_1",
  ]);
  const active = page.querySelector("[role=tree]")?.getAttribute("aria-activedescendant");
  expect(active).toBe(selected[0]?.id);
});

test("what a search found and selected is shown in its place when the search ends", async () => {
  const { store, select } = await show("Outline", layeredProgram(4).record);
  await select(() => {
    store.query.value = "linear";
  });
  await press(page.querySelector('[aria-label="Next match"]'));
  await select(() => {
    store.query.value = "";
  });
  const selected = page.querySelector("[role=treeitem][aria-selected=true]");
  expect(selected?.textContent).toContain("linear");
});

test("the outline's search counts, walks and selects what it finds", async () => {
  const { store, program } = await show("Outline", layeredProgram(4).record);
  await act(() => {
    store.query.value = "linear";
  });
  expect(page.querySelector("output")?.textContent).toBe("4 matches");
  await press(page.querySelector('[aria-label="Next match"]'));
  expect(page.querySelector("output")?.textContent).toBe("1 of 4");
  await press(button("Select all"));
  expect([...store.lit.value.nodes].map((id) => program.name(id))).toEqual([
    "linear",
    "linear_1",
    "linear_2",
    "linear_3",
  ]);
});

test("a query's matches are lit, its problem is told, and Tab completes a field", async () => {
  const { store, program, select } = await show("Outline", layeredProgram(4).record);
  await select(() => {
    store.query.value = "op:linear & module:layer.2";
  });
  expect(page.querySelector("output")?.textContent).toBe("1 match");
  expect([...store.lit.value.nodes].map((id) => program.name(id))).toEqual(["linear_2"]);

  await select(() => {
    store.query.value = "op:linear & opp:x";
  });
  expect(text()).toContain("There is no field opp. Nearest: op (column 13)");
  expect(store.lit.value.nodes.size).toBe(0);

  const box = page.querySelector<HTMLInputElement>("[data-search]");
  if (!box) throw new Error("there is a search box");
  const type = (typed: string): Promise<void> =>
    select(() => {
      box.value = typed;
      box.setSelectionRange(typed.length, typed.length);
      box.dispatchEvent(new InputEvent("input", { bubbles: true }));
    });
  const tab = (): Promise<void> =>
    select(() => {
      box.dispatchEvent(new KeyboardEvent("keydown", { key: "Tab", bubbles: true }));
    });
  await type("!dt");
  await tab();
  expect(store.query.value).toBe("!dtype:");
  await type("op:line");
  expect(page.querySelector('[role="listbox"]')?.textContent).toContain("linear");
  await tab();
  expect(store.query.value.startsWith("op:")).toBe(true);
  expect(page.querySelector("output")?.textContent).toBe("4 matches");
});

const MARKUP = "<img src=x onerror=alert(1)>";

function failed(): Record {
  const build = tracedRecord();
  const stack = build.stack([
    [1, 10, "twice"],
    [0, 4, "forward"],
  ]);
  const failure = failureOf({ sentence: MARKUP, message: MARKUP, traceback: "Trace", stack });
  return { ...build.record(), outcome: "failed", graphs: [], failure };
}

test("a failure shows its sentence and line first, the traceback only on demand", async () => {
  const record = failed();
  const { store, program } = storeOf(record, { sources: { 0: CELL } });
  const failure = record.failure;
  if (!failure) throw new Error("a failed record has a failure");
  await act(async () =>
    render(<Failure store={store} program={program} failure={failure} />, page),
  );
  await settle();
  expect(page.querySelector(".tx-failing")?.textContent).toContain("return twice(y)");
  // The colour of the line, for a screen reader: no other line of the excerpt is said to fail.
  const heard = [...page.querySelectorAll(".tx-hidden:not([aria-live])")].map(
    (each) => each.parentElement?.className,
  );
  expect(heard).toEqual(["tx-line tx-failing"]);
  const folded = [...page.querySelectorAll("details")];
  expect(folded.every((each) => !each.open)).toBe(true);
  expect(folded.some((each) => each.textContent?.includes("Trace"))).toBe(true);
});

test("a failed export without a graph shows the failure, and no empty panes", async () => {
  const { store } = storeOf(failed(), { sources: { 0: CELL } });
  await act(async () => render(<App store={store} />, page));
  await settle();
  const tabs = [...page.querySelectorAll("[role=tab]")].map((each) => each.textContent);
  expect(tabs).toEqual(["What went wrong", "Source", "Shapes"]);
  expect(page.querySelector("canvas")).toBeNull();
  const headings = [...page.querySelectorAll("h1, h2, h3, h4")].map((each) => each.localName);
  expect(headings.slice(0, 2)).toEqual(["h2", "h3"]);
});

test("text from a model is never markup, and never long enough to break a line of the view", async () => {
  const long = "n".repeat(10_000);
  const build = new RecordBuilder(MARKUP + long);
  const scope = build.scope(MARKUP, MARKUP);
  const x = build.input(long, [4]);
  build.output([build.call(MARKUP, [x], { scope })]);
  const record = { ...build.record(), verdict: long, warnings: [MARKUP], printed: MARKUP };
  for (const name of ["Outline", "Inspector", "Signature"] as const) {
    const { store, select } = await show(name, record);
    for (const nodes of [[0], [1], [2]]) {
      await select(() => store.select({ kind: "nodes", nodes }, "graph"));
      expect(page.querySelector("img")).toBeNull();
      const longest = Math.max(...[...page.querySelectorAll("*")].map(ownLength));
      expect(longest, name).toBeLessThanOrEqual(1001);
    }
    if (name !== "Signature") expect(text(), name).toContain(MARKUP); // it has no op in it
  }
});

/** The length of an element's own text. */
function ownLength(element: Element): number {
  const own = [...element.childNodes].filter((each) => each.nodeType === Node.TEXT_NODE);
  return Math.max(0, ...own.map((each) => each.textContent?.length ?? 0));
}
