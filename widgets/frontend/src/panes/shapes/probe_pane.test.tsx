import { render } from "preact";
import { act } from "preact/test-utils";
import { expect, test } from "vitest";
import type { OutputEntry, Probe as ProbeRecord, Record } from "../../record.gen";
import { storeOf } from "../../testing/fake_host";
import { tracedRecord } from "../../testing/models";
import { at, freshPage, page } from "../../testing/page";
import { guardOf, ruleOf, sizeInput } from "../../testing/records";
import { Shapes } from "./Shapes";

freshPage();

/** `x` has batch, at most 16, and 8. */
const PROBE: ProbeRecord = {
  inputs: [
    sizeInput("x.shape[0]", 4, { size: "batch", symbol: 0 }),
    sizeInput("x.shape[1]", 8, { dim: 1 }),
  ],
  rules: [
    ruleOf("x.shape[1] == 8", ["d1", 8, "=="], { kind: "fixed" }),
    ruleOf("x.shape[0] <= 16", ["d0", 16, "<="], { kind: "range", guard: 0 }),
    ruleOf("x.shape[0] >= 2", ["d0", 2, ">="], { kind: "range", enforced: false }),
  ],
  outputs: [{ entry: 0, dim: 0, size: "batch", formula: ["d0"] }],
};

function contract(fields: Partial<Record> = {}): Record {
  return { ...tracedRecord().record(), probe: PROBE, ...fields };
}

async function show(record: Record) {
  const { store, program } = storeOf(record, { record });
  await act(async () => render(<Shapes store={store} program={program} />, page));
  return { store, program };
}

const type = (id: string, value: string) =>
  act(() => {
    at(id).value = value;
    at(id).dispatchEvent(new Event("input", { bubbles: true }));
  });

test("the example is accepted, and the sizes of the result are said", async () => {
  await show(contract());
  expect(at("probe-verdict").textContent).toContain("The guards accept it");
  expect(at("probe-verdict").textContent).toContain("[4]");
});

test("a size that Verify ran says how eager compared there, and no other does", async () => {
  const trials = [
    { sizes: "batch = 1", outcome: "differs" as const, error: 9, detail: "off by 9" },
  ];
  const verification = { verdict: "broken" as const, sentence: "", rows: [], seconds: 1 };
  const record = contract();
  const symbols = record.symbols.map((each) => ({ ...each, name: "batch" }));
  const probe = { ...PROBE, rules: PROBE.rules.slice(0, 2) };
  const left_out: string[] = [];
  await show({ ...record, symbols, probe, verification: { ...verification, trials, left_out } });
  expect(at("probe-verdict").textContent).toContain("Not run at these sizes");
  await type("probe-slider-0", "1");
  expect(at("probe-verdict").textContent).toContain("The guards accept it");
  expect(at("probe-tried").textContent).toContain("Differs from eager, as Verify ran it: off by 9");
});

test("a slider moves the symbol, and what refuses is said and marked", async () => {
  await show(contract({ guards: [guardOf("x.shape[0] <= 16")] }));
  await type("probe-slider-0", "18");
  expect(at("probe-size-0").value).toBe("18");
  expect(at("probe-verdict").textContent).toContain("Refused");
  expect(at("probe-verdict").textContent).toContain("x.shape[0] <= 16");
  expect(at("probe-size-0").getAttribute("aria-invalid")).toBe("true");
  expect(at("probe-size-1").getAttribute("aria-invalid")).toBe("false");
});

test("what a fix bounded is said by the size's name, and by the fix", async () => {
  const record = contract();
  const text = "by the fix Bound batch ≤ 16, for net.py:8";
  const bounds = [{ side: "upper" as const, value: 16, origin: "fix" as const, text, guard: -1 }];
  const symbols = record.symbols.map((each) => ({ ...each, bounds }));
  const rules = PROBE.rules.map((each) => ({ ...each, guard: -1 }));
  await show({ ...record, symbols, probe: { ...PROBE, rules } });
  expect(at("symbol-0").textContent).toContain(`≤ 16: ${text}`);
  await type("probe-slider-0", "18");
  expect(at("probe-verdict").textContent).toContain(`x.shape[0] <= 16 batch, ${text}`);
});

test("a size below the range is not checked, and the way back is one click", async () => {
  await show(contract());
  await type("probe-size-0", "1");
  expect(at("probe-verdict").textContent).toContain("Not checked");
  const back = [...page.querySelectorAll("button")].find((each) =>
    each.textContent?.includes("Back to the example"),
  );
  await act(() => back?.click());
  expect(at("probe-verdict").textContent).toContain("The guards accept it");
});

test("a slider moves every size that is made from its symbol", async () => {
  const inputs = [
    ...PROBE.inputs,
    sizeInput("y.shape[0]", 9, { entry: 1, symbol: 0, scale: 2, offset: 1 }),
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
  expect(at("probe-verdict").textContent).toContain("The guards accept it");
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
  const rules = [ruleOf("", ["d0", 16, "<="])];
  const record = contract({ probe: { ...PROBE, outputs, rules } });
  const result: OutputEntry = {
    kind: "user_output",
    name: "",
    node: -1,
    type: -1,
    target: "",
    path: "",
    constant: null,
  };
  const signature = { ...record.signature, outputs: [result, { ...result, path: "logits" }] };
  await show({ ...record, signature });
  const said = [...at("probe-verdict").querySelectorAll("li")].map((each) => each.textContent);
  expect(said).toEqual(["output 0: [4, ?]", "logits: 8"]);
  await type("probe-size-0", "20");
  expect(at("probe-verdict").textContent).toContain("a check in the program");
});

test("a program whose sizes are all fixed refuses others", async () => {
  const probe = {
    inputs: [sizeInput("x.shape[0]", 4)],
    rules: [ruleOf("x.shape[0] == 4", ["d0", 4, "=="])],
    outputs: [],
  };
  await show(contract({ probe, symbols: [] }));
  expect(page.querySelector("input[type=range]")).toBeNull();
  await type("probe-size-0", "5");
  expect(at("probe-verdict").textContent).toContain("Refused: x.shape[0] == 4");
});
