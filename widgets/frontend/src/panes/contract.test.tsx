import { render } from "preact";
import { act } from "preact/test-utils";
import { afterEach, beforeEach, expect, test } from "vitest";
import type {
  FindingRow,
  GuaranteeRow,
  Guard,
  Probe as ProbeRecord,
  Record,
  Verification,
} from "../record.gen";
import { type Answers, type FakeHost, storeOf } from "../testing/fake_host";
import { tracedRecord } from "../testing/models";
import { fixCard } from "../testing/records";
import { Findings } from "./Findings";
import { Guarantees } from "./Guarantees";
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

async function show(Pane: typeof Shapes, record: Record, answers: Answers = {}) {
  const { store, program } = storeOf(record, { record, ...answers });
  await act(async () => render(<Pane store={store} program={program} />, page));
  return { store, program, host: store.host as FakeHost };
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
  await show(Shapes, contract());
  expect(at("probe-verdict").textContent).toContain("Accepted");
  expect(at("probe-verdict").textContent).toContain("[4]");
});

test("a slider moves the symbol, and what refuses is said and marked", async () => {
  await show(Shapes, contract({ guards: [guard("x.shape[0] <= 16")] }));
  await type("probe-slider-0", "18");
  expect(at("probe-size-0").value).toBe("18");
  expect(at("probe-verdict").textContent).toContain("Refused");
  expect(at("probe-verdict").textContent).toContain("x.shape[0] <= 16");
  expect(at("probe-size-0").getAttribute("aria-invalid")).toBe("true");
  expect(at("probe-size-1").getAttribute("aria-invalid")).toBe("false");
});

test("a size below the range is not checked, and the way back is one click", async () => {
  await show(Shapes, contract());
  await type("probe-size-0", "1");
  expect(at("probe-verdict").textContent).toContain("Not checked");
  const back = [...page.querySelectorAll("button")].find((each) =>
    each.textContent?.includes("Back to the example"),
  );
  await act(() => back?.click());
  expect(at("probe-verdict").textContent).toContain("Accepted");
});

test("guards are filtered by text, by size and by input; those implied only when asked for", async () => {
  const guards = [
    guard("batch <= 16", { effect: "narrows", result: "batch in [2, 16]" }),
    guard("batch != 3", { symbols: [], inputs: [2], asked_by: "aten.mm.default" }),
    guard("batch >= 0", { effect: "implied" }),
  ];
  const { program } = await show(Shapes, contract({ guards }));
  const chosen = (more: object) =>
    chosenGuards(program, { ...EVERY_GUARD, ...more }).map(([, each]) => each.text);
  expect(chosen({})).toEqual(["batch <= 16", "batch != 3"]);
  expect(chosen({ implied: true })).toHaveLength(3);
  expect(chosen({ text: "MM.def" })).toEqual(["batch != 3"]);
  expect(chosen({ about: "symbol 0" })).toEqual(["batch <= 16"]);
  expect(chosen({ about: "input 2" })).toEqual(["batch != 3"]);
  expect(page.textContent).toContain("narrows a range");
});

test("the timeline is folded, and counts what happens again", async () => {
  const event = { text: "batch != 1", torch_text: "s0 != 1", symbols: [0], stack: -1, guard: 0 };
  await show(Shapes, contract({ timeline: [{ ...event, kind: "guard", count: 3 }] }));
  expect(at("timeline").hasAttribute("open")).toBe(false);
  expect(at("timeline").textContent).toContain("×3");
});

const finding = (more: Partial<FindingRow> = {}): FindingRow => ({
  kind: "baked-value",
  heading: "A Python value baked in",
  severity: "wrong",
  sentence: `The value that \`id(x)\` had ${MARKUP}`,
  why: "It changes.",
  stack: -1,
  node: -1,
  guard: -1,
  fix: -1,
  card: null,
  ...more,
});

test("a finding says what and why, as text, and offers its fix", async () => {
  const card = fixCard({ title: "Copy it" });
  const { host } = await show(Findings, contract({ findings: [finding({ fix: 3, card })] }));
  expect(page.textContent).toContain(MARKUP);
  expect(page.querySelector("img")).toBeNull();
  expect(page.querySelector("code")?.textContent).toBe("id(x)");
  const apply = [...page.querySelectorAll("button")].find((each) => each.textContent === "Apply");
  await act(() => apply?.click());
  expect(host.asked).toContain("apply");
  expect(host.requests.at(-1)).toMatchObject({ fixes: [3] });
});

test("an export without findings says what was looked for", async () => {
  await show(Findings, contract());
  expect(page.textContent).toContain("Nothing wrong or surprising");
});

const row = (name: string, verdict: GuaranteeRow["verdict"]): GuaranteeRow => ({
  name,
  claim: `${name} is promised.`,
  verdict,
  sentence: "Looked at.",
  evidence: ["what was seen"],
  node: -1,
});

test("verifying is asked for, and what is broken comes first", async () => {
  const { host } = await show(Guarantees, contract());
  expect(page.textContent).toContain("Not verified yet");
  await act(() => at("verify").click());
  expect(host.asked).toContain("verify");
  expect(host.requests.at(-1)).toMatchObject({ attempt: 0, sizes: 8 });
  const verification: Verification = {
    verdict: "broken",
    sentence: "1 guarantee holds, 1 is broken.",
    rows: [row("flat", "holds"), row("sound", "broken")],
    seconds: 1.5,
  };
  await show(Guarantees, contract({ verification }));
  const names = [...page.querySelectorAll("li[data-testid]")].map((each) =>
    each.getAttribute("data-testid"),
  );
  expect(names).toEqual(["guarantee-sound", "guarantee-flat"]);
  expect(at("guarantee-sound").querySelector("details")?.hasAttribute("open")).toBe(true);
  expect(at("guarantee-flat").querySelector("details")?.hasAttribute("open")).toBe(false);
});

test("a frozen page has no button to verify", async () => {
  await show(Guarantees, contract(), { live: false });
  expect(page.querySelector('[data-testid="verify"]')).toBeNull();
});
