import { render } from "preact";
import { act } from "preact/test-utils";
import { expect, test } from "vitest";
import { delegations } from "../../decorations/delegation";
import { measuredShare, outsideBy, timeShare } from "../../delegation";
import { nodeId, Program } from "../../program";
import type { DelegatedOp, Delegation, Record } from "../../record.gen";
import { type Answers, type FakeHost, storeOf } from "../../testing/fake_host";
import { freshPage, page } from "../../testing/page";
import { RecordBuilder } from "../../testing/records";
import { Delegate } from "./Delegate";

freshPage();

const MARKUP = "<img src=x onerror=alert(1)>";

function op(name: string, changes: Partial<DelegatedOp> = {}): DelegatedOp {
  return {
    name,
    op: `aten.${name}.default`,
    kind: "tensor",
    partition: -1,
    graph: "",
    reason: `no rule for ${name} ${MARKUP}`,
    by: "no rule",
    rule: null,
    origin: name,
    place: { file: "", line: 0, code: "", module: "" },
    flops: 10,
    bytes: 4,
    microseconds: -1,
    missing_kernel: "",
    ...changes,
  };
}

const DELEGATION: Delegation = {
  backend: "xnnpack",
  title: "XNNPACK",
  version: "executorch 1",
  is_stage: false,
  seconds: 2,
  kinds: ["alpha"],
  fixes: [
    {
      kind: "alpha",
      title: MARKUP,
      ops: ["sin"],
      places: [],
      gain: "1 more op inside",
      is_lossless: true,
      agreement: "Agrees.",
    },
  ],
  ops: [op("relu", { partition: 0, reason: "", flops: 30 }), op("sin")],
  partitions: [
    {
      number: 0,
      name: "lowered_0",
      ops: 1,
      flops: 30,
      bytes_in: 8,
      bytes_out: 8,
      microseconds: -1,
      inner: [],
    },
  ],
  splits: [],
  pairs: [],
  counted: null,
  call: -1,
  runtime: "",
  notes: [MARKUP],
};

/** x → relu → sin → output. */
function delegated(changes: Partial<Record> = {}): Record {
  const build = new RecordBuilder("net(x)");
  build.output([build.call("sin", [build.call("relu", [build.input("x", [4])])])]);
  return { ...build.record(), delegations: [DELEGATION], ...changes };
}

async function show(shown: Record, answers: Answers = {}) {
  const setups = {
    devices: ["cpu"],
    backends: [],
    delegates: [
      { name: "xnnpack", title: "XNNPACK", missing: null },
      { name: "arm", title: "Arm", missing: "not installed" },
    ],
  };
  const { store, program } = storeOf(shown, { setups, ...answers });
  await act(async () => render(<Delegate store={store} program={program} />, page));
  return { store, host: store.host as FakeHost };
}

const at = (name: string): HTMLElement | null => page.querySelector(`[data-testid="${name}"]`);

test("what is inside and outside is a colour, with its reason", () => {
  const [decoration] = delegations(new Program(delegated()));
  expect(decoration?.marks.get(nodeId(0, 1))).toEqual({
    colour: "var(--tx-good)",
    note: "in partition 0",
  });
  expect(decoration?.marks.get(nodeId(0, 2))?.note).toBe(`outside: no rule for sin ${MARKUP}`);
});

test("time is shared by the ops that were measured", () => {
  const profile = {
    device: "cpu",
    inputs: "",
    runs: 1,
    microseconds: [-1, 30, 10, -1],
    bytes: [],
    total: 40,
  };
  const program = new Program(delegated({ profile }));
  expect(timeShare(program, DELEGATION)).toEqual({ inside: 30, total: 40 });
  expect(outsideBy(DELEGATION).map(({ op, flops }) => [op, flops])).toEqual([
    ["aten.sin.default", 10],
  ]);
});

test("a measured call is shared by partitions and ops outside", () => {
  const [inside, outside] = DELEGATION.ops as [DelegatedOp, DelegatedOp];
  const [partition] = DELEGATION.partitions;
  if (!partition) throw new Error("there is one");
  const measured = {
    ...DELEGATION,
    ops: [inside, { ...outside, microseconds: 30 }],
    partitions: [{ ...partition, microseconds: 10 }],
  };
  expect(measuredShare(measured)).toEqual({ inside: 10, total: 40 });
  expect(measuredShare(DELEGATION)).toBe(null);
});

test("an op outside is selected, and a fix asks for its kind", async () => {
  const { store, host } = await show(delegated());
  expect(page.querySelector("img")).toBe(null);
  expect(at("delegate-shares")?.textContent).toContain("75 %");
  await act(() => at("outside")?.querySelector("button")?.click());
  expect(store.lit.value.nodes).toEqual(new Set([nodeId(0, 2)]));
  await act(async () => at("delegation-fix")?.querySelector("button")?.click());
  expect(host.asked).toContain("fix_delegation");
  expect(host.requests).toContainEqual({
    attempt: 0,
    backend: "xnnpack",
    kinds: "alpha",
    measure: false,
  });
});

test("a backend that is not here cannot be asked", async () => {
  await show(delegated({ delegations: [] }));
  const select = at("delegate-backend") as HTMLSelectElement;
  select.value = "arm";
  await act(async () => void select.dispatchEvent(new Event("change")));
  expect((at("delegate-run") as HTMLButtonElement).disabled).toBe(true);
  expect(page.textContent).toContain("not installed");
});

test("ops by backend are a table whose heads colour the graph", async () => {
  const answers = [
    { backend: "xnnpack", title: "XNNPACK", taken: ["relu"], refused: { sin: "no" } },
  ];
  const calls = { "aten.relu.default": ["relu"], "aten.sin.default": ["sin"] };
  const table = { answers, calls, unavailable: { arm: MARKUP } };
  const { store } = await show(delegated({ delegations: [], op_table: table }));
  const rows = [...page.querySelectorAll('[data-testid="take-table"] tbody tr')];
  expect(rows.map((row) => row.textContent)).toEqual([
    "aten.relu.default✓can be taken",
    "aten.sin.default✗no",
  ]);
  const head = at("take-table")?.querySelector("thead button");
  await act(async () => void head?.dispatchEvent(new Event("click")));
  expect(store.colouring.value?.marks.get(nodeId(0, 2))?.note).toBe("no");
});
