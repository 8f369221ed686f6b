import { render } from "preact";
import { act } from "preact/test-utils";
import { afterEach, beforeEach, expect, test } from "vitest";
import type {
  Bound,
  Guard,
  OutputEntry,
  Probe as ProbeRecord,
  Record,
  Rule,
  SizeInput,
} from "../record.gen";
import { storeOf } from "../testing/fake_host";
import { tracedRecord } from "../testing/models";
import { chosenGuards, EVERY_GUARD } from "./guard_filter";
import { Shapes } from "./Shapes";

const MARKUP = "<img src=x onerror=alert(1)>";
let page: HTMLElement;

beforeEach(() => {
  page = document.createElement("div");
  document.body.append(page);
});
afterEach(() => {
  render(null, page);
  page.remove();
});

const PROBE: ProbeRecord = {
  inputs: [
    {
      entry: 0,
      dim: 0,
      text: "x.shape[0]",
      example: 4,
      size: "batch",
      symbol: 0,
      scale: 1,
      offset: 0,
    },
    { entry: 0, dim: 1, text: "x.shape[1]", example: 8, size: 8, symbol: -1, scale: 1, offset: 0 },
  ],
  rules: [
    {
      kind: "fixed",
      text: "x.shape[1] == 8",
      formula: ["d1", 8, "=="],
      guard: -1,
      stack: -1,
      enforced: true,
    },
    {
      kind: "range",
      text: "x.shape[0] <= 16",
      formula: ["d0", 16, "<="],
      guard: 0,
      stack: -1,
      enforced: true,
    },
    {
      kind: "range",
      text: "x.shape[0] >= 2",
      formula: ["d0", 2, ">="],
      guard: -1,
      stack: -1,
      enforced: false,
    },
  ],
  outputs: [{ entry: 0, dim: 0, size: "batch", formula: ["d0"] }],
};

const size = (text: string, example: number): SizeInput => ({
  entry: 0,
  dim: 0,
  text,
  example,
  size: example,
  symbol: -1,
  scale: 1,
  offset: 0,
});

const rule = (text: string, formula: Rule["formula"]): Rule => ({
  kind: "guard",
  text,
  formula,
  guard: -1,
  stack: -1,
  enforced: true,
});

const output = (): OutputEntry => ({
  kind: "user_output",
  name: "mul",
  node: -1,
  type: -1,
  target: "",
  path: "",
  constant: null,
});

const guard = (text: string, more: Partial<Guard> = {}): Guard => ({
  text,
  torch_text: text,
  symbols: [0],
  kind: "guard",
  stack: -1,
  count: 1,
  effect: "kept",
  result: "",
  asked_by: "",
  inputs: [0],
  ...more,
});

function contract(fields: Partial<Record> = {}): Record {
  return { ...tracedRecord().record(), probe: PROBE, ...fields };
}

async function show(record: Record) {
  const { store, program } = storeOf(record, { record });
  await act(async () => render(<Shapes store={store} program={program} />, page));
  return { store, program };
}

const at = (id: string): HTMLInputElement => {
  const found = page.querySelector(`[data-testid="${id}"]`);
  if (!found) throw new Error(`no ${id}`);
  return found as HTMLInputElement;
};

const type = (id: string, value: string) =>
  act(() => {
    at(id).value = value;
    at(id).dispatchEvent(new Event("input", { bubbles: true }));
  });

test("the example is accepted, and the sizes of the result are said", async () => {
  await show(contract());
  expect(at("probe-verdict").textContent).toContain("Accepted");
  expect(at("probe-verdict").textContent).toContain("[4]");
});

test("a slider moves the symbol, and what refuses is said and marked", async () => {
  await show(contract({ guards: [guard("x.shape[0] <= 16")] }));
  await type("probe-slider-0", "18");
  expect(at("probe-size-0").value).toBe("18");
  expect(at("probe-verdict").textContent).toContain("Refused");
  expect(at("probe-verdict").textContent).toContain("x.shape[0] <= 16");
  expect(at("probe-size-0").getAttribute("aria-invalid")).toBe("true");
  expect(at("probe-size-1").getAttribute("aria-invalid")).toBe("false");
});

test("a size below the range is not checked, and the way back is one click", async () => {
  await show(contract());
  await type("probe-size-0", "1");
  expect(at("probe-verdict").textContent).toContain("Not checked");
  const back = [...page.querySelectorAll("button")].find((each) =>
    each.textContent?.includes("Back to the example"),
  );
  await act(() => back?.click());
  expect(at("probe-verdict").textContent).toContain("Accepted");
});

test("a slider moves every size that is made from its symbol", async () => {
  const inputs = [
    ...PROBE.inputs,
    { ...size("y.shape[0]", 9), entry: 1, symbol: 0, scale: 2, offset: 1 },
  ];
  await show(contract({ probe: { ...PROBE, inputs } }));
  await type("probe-slider-0", "7");
  expect(at("probe-size-0").value).toBe("7");
  expect(at("probe-size-1").value).toBe("8");
  expect(at("probe-size-2").value).toBe("15");
  expect(at("probe-symbol-0").value).toBe("7");
  await type("probe-symbol-0", "3");
  expect(at("probe-size-2").value).toBe("7");
});

test("what is no size is not tried, and gone when the box is left", async () => {
  await show(contract());
  await type("probe-size-0", "-3");
  expect(at("probe-verdict").textContent).toContain("Accepted");
  await act(() => {
    at("probe-size-0").dispatchEvent(new Event("blur"));
  });
  expect(at("probe-size-0").value).toBe("4");
});

test("a refusal leads to the line that asked", async () => {
  const build = tracedRecord().record();
  const { store } = await show({ ...build, probe: PROBE });
  await type("probe-slider-0", "18");
  const verdict = at("probe-verdict");
  expect(verdict.textContent).toMatch(/^Refused: x\.shape\[0\] <= 16/);
  expect(verdict.querySelector("button")?.textContent).toBe("Cell In[2]:4");
  await act(() => verdict.querySelector("button")?.click());
  expect(store.place.value).toEqual({ file: 0, line: 4 });
});

test("several broken rules are a list, of which those that let through say so", async () => {
  await show(contract());
  await type("probe-size-0", "1");
  await type("probe-size-1", "9");
  const rows = [...at("probe-verdict").querySelectorAll("li")].map((each) => each.textContent);
  expect(rows[0]).toContain("x.shape[1] == 8");
  expect(rows[1]).toContain("not checked by the program");
});

test("a rule without a text, and results by name, by number and as a number", async () => {
  const outputs = [
    { entry: 0, dim: 0, size: "batch", formula: ["d0"] },
    { entry: 0, dim: 1, size: "u0", formula: [] },
    { entry: 1, dim: -1, size: "batch", formula: ["d0", 2, "*"] },
  ];
  const rules = [{ ...rule("", ["d0", 16, "<="]), guard: -1 }];
  const record = contract({ probe: { ...PROBE, outputs, rules } });
  const result = { ...output(), path: "" };
  const signature = { ...record.signature, outputs: [result, { ...result, path: "logits" }] };
  await show({ ...record, signature });
  const said = [...at("probe-verdict").querySelectorAll("li")].map((each) => each.textContent);
  expect(said).toEqual(["output 0: [4, ?]", "logits: 8"]);
  await type("probe-size-0", "20");
  expect(at("probe-verdict").textContent).toContain("a check in the program");
});

test("a program whose sizes are all fixed refuses others", async () => {
  const probe = {
    inputs: [size("x.shape[0]", 4)],
    rules: [rule("x.shape[0] == 4", ["d0", 4, "=="])],
    outputs: [],
  };
  await show(contract({ probe, symbols: [] }));
  expect(page.querySelector("input[type=range]")).toBeNull();
  await type("probe-size-0", "5");
  expect(at("probe-verdict").textContent).toContain("Refused: x.shape[0] == 4");
});

test("each end of a range says where it comes from", async () => {
  const record = contract();
  const bounds: Bound[] = [
    { side: "lower", value: 3, origin: "default", text: `follows ${MARKUP}`, guard: -1 },
    { side: "upper", value: 16, origin: "guard", text: "batch <= 16", guard: 0 },
  ];
  const [symbol, ...others] = record.symbols;
  const symbols = symbol ? [{ ...symbol, bounds }, ...others] : [];
  const { store } = await show({ ...record, symbols });
  const [lower, upper] = [...at("symbol-0").querySelectorAll(".tx-origin")];
  expect(lower?.textContent).toBe(`≥ 3: follows ${MARKUP}`);
  expect(upper?.textContent).toContain("≤ 16: batch <= 16 Cell In[2]:4");
  await act(() => upper?.querySelector("button")?.click());
  expect(store.place.value).toEqual({ file: 0, line: 4 });
  expect(store.selection.value).toEqual({ kind: "none" });
});

test("guards are filtered by text, by size and by input; those implied only when asked for", async () => {
  const guards = [
    guard("batch <= 16", { effect: "narrows", result: "batch in [2, 16]" }),
    guard("batch != 3", { symbols: [], inputs: [2], asked_by: "aten.mm.default" }),
    guard("batch >= 0", { effect: "implied" }),
  ];
  const { program } = await show(contract({ guards }));
  const chosen = (more: object) =>
    chosenGuards(program, { ...EVERY_GUARD, ...more }).map(([, each]) => each.text);
  expect(chosen({})).toEqual(["batch <= 16", "batch != 3"]);
  expect(chosen({ implied: true })).toHaveLength(3);
  expect(chosen({ text: "MM.def" })).toEqual(["batch != 3"]);
  expect(chosen({ about: "symbol 0" })).toEqual(["batch <= 16"]);
  expect(chosen({ about: "input 2" })).toEqual(["batch != 3"]);
  expect(page.textContent).toContain("narrows a range");
});

test("guards that follow from others are counted, and shown when asked for, however few", async () => {
  const guards = [guard("batch <= 16"), guard("batch <= 99", { effect: "implied" })];
  await show(contract({ guards }));
  expect(at("guards").textContent).not.toContain("batch <= 99");
  expect(at("guards-implied").textContent).toContain("1 that follows from others");
  await act(() => at("guards-implied").querySelector("input")?.click());
  expect(at("guards").textContent).toContain("batch <= 99");
});

test("guards are filtered in the pane, and an empty result says so", async () => {
  const record = contract();
  const guards = [
    ...record.guards,
    ...Array.from({ length: 8 }, (_, number) => guard(`batch != ${number + 20}`)),
  ];
  await show({ ...record, guards });
  const rows = () => at("guards").querySelectorAll("tbody tr").length;
  expect(rows()).toBe(9);
  const select = at("guards").querySelector("select") as HTMLSelectElement;
  const files = [...select.querySelectorAll('optgroup[label="Files"] option')];
  expect(files.map((each) => each.textContent)).toEqual(["Cell In[2]"]);
  await act(() => {
    select.value = "file 0";
    select.dispatchEvent(new Event("change", { bubbles: true }));
  });
  expect(rows()).toBe(1);
  const search = at("guards").querySelector("input[type=search]") as HTMLInputElement;
  await act(() => {
    search.value = "nothing like it";
    search.dispatchEvent(new Event("input", { bubbles: true }));
  });
  expect(at("guards").textContent).toContain("No guard matches. 9 guards in all");
});

test("a long timeline is cut off, and the rest is a click away", async () => {
  const event = { torch_text: "", symbols: [], stack: -1, guard: -1, count: 1 };
  const timeline = Array.from({ length: 230 }, (_, number) => ({
    ...event,
    kind: "range" as const,
    text: `batch in [2, ${number}]`,
  }));
  await show(contract({ timeline }));
  const rows = () => at("timeline").querySelectorAll("tbody tr").length;
  expect(rows()).toBe(200);
  const more = [...at("timeline").querySelectorAll("button")].at(-1);
  expect(more?.textContent).toBe("30 more");
  await act(() => more?.click());
  expect(rows()).toBe(230);
});

test("the timeline is folded, and counts what happens again", async () => {
  const event = { text: "batch != 1", torch_text: "s0 != 1", symbols: [0], stack: -1, guard: 0 };
  await show(contract({ timeline: [{ ...event, kind: "guard", count: 3 }] }));
  expect(at("timeline").hasAttribute("open")).toBe(false);
  expect(at("timeline").textContent).toContain("×3");
});
