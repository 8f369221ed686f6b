import { render } from "preact";
import { act } from "preact/test-utils";
import { afterEach, expect, test } from "vitest";
import type { SetState } from "../host";
import { Store } from "../store";
import { FakeHost } from "../testing/fake_host";
import { isChosenByTabs } from "./History";
import { ProgramStrip } from "./ProgramStrip";

const FLOW = {
  output: 1,
  input: 2,
  source_node: 7,
  target_node: 2,
  source_path: "cache",
  target_path: "cache",
  given: "f32[batch, prompt]",
  taken: "f32[batch, past]",
  kind: "cache",
  known_by: "name",
} as const;

const COMPONENT = {
  verdict: "exported",
  outcome: "exported",
  ops: 3,
  bytes: 40,
  role: "",
} as const;

const STATE: SetState = {
  set: {
    title: "kit",
    components: [
      { ...COMPONENT, name: "prefill" },
      { ...COMPONENT, name: "decode" },
    ],
    seams: [{ source: 0, target: 1, flows: [FLOW], summary: "1 cache tensor" }],
    symbols: [],
    weights: [],
    shared_bytes: 0,
    duplicated_bytes: 0,
    findings: [],
    trials: [],
    notes: [],
  },
  attempts: [0, 1],
  backends: [
    { name: "program", title: "exported program", missing: null },
    { name: "onnx", title: "ONNX Runtime", missing: "onnxruntime is not installed" },
  ],
};

class SetHost extends FakeHost {
  readonly programs = STATE;
}

const head = (label: string) =>
  ({
    label,
    outcome: "exported",
    verdict: "exported",
    parent: -1,
    step: "",
    revision: 0,
    untrusted: false,
    release: null,
    name: "ex",
  }) as const;

let root: HTMLElement;
afterEach(() => {
  render(null, root);
  root.remove();
});

function shown(): Store {
  const store = new Store(new SetHost({ attempts: [head("prefill"), head("decode")] }));
  root = document.createElement("div");
  document.body.append(root);
  act(() => render(<ProgramStrip store={store} />, root));
  return store;
}

test("the programs stand in their order, and the one on screen is selected", () => {
  shown();
  const tabs = [...root.querySelectorAll("[role=tab]")];

  expect(tabs.map((each) => each.querySelector("strong")?.textContent)).toEqual([
    "prefill",
    "decode",
  ]);
  expect(tabs.map((each) => each.getAttribute("aria-selected"))).toEqual(["true", "false"]);
});

test("a seam that is clicked shows its tensors and lights them in the program on screen", () => {
  const store = shown();
  const between = [...root.querySelectorAll("button")].find((each) =>
    each.textContent?.includes("1 connection"),
  );
  act(() => between?.click());
  const seam = [...root.querySelectorAll("button")].find((each) =>
    each.textContent?.includes("prefill → decode"),
  );
  act(() => seam?.click());

  expect(store.selection.value).toEqual({ kind: "nodes", nodes: [7] });
  expect(root.querySelector("table")?.textContent).toContain("f32[batch, prompt]");
  expect(seam?.getAttribute("aria-pressed")).toBe("true");
});

test("what can generate is offered, and what is not installed says so", () => {
  const store = shown();
  const button = [...root.querySelectorAll("button")].find((each) =>
    each.textContent?.includes("Generate"),
  );
  act(() => button?.click());

  const [program, onnx] = [...root.querySelectorAll("option")];
  expect([program?.disabled, onnx?.disabled]).toEqual([false, true]);
  expect(root.textContent).toContain("onnxruntime is not installed");
  const asked: string[] = [];
  store.generate = async (backend) => void asked.push(backend);
  const go = [...root.querySelectorAll(".tx-popover button")].at(-1) as HTMLButtonElement;
  act(() => go.click());
  expect(asked).toEqual(["program"]);
});

test("below the tabs of a set, or of attempts side by side, is the panel that they choose", () => {
  const alone = new Store(new FakeHost({ attempts: [head("strict")] }));
  const beside = new Store(new FakeHost({ attempts: [head("strict"), head("non-strict")] }));
  const mended = { ...head("non-strict"), parent: 0 };
  const chain = new Store(new FakeHost({ attempts: [head("strict"), mended] }));

  expect([shown(), beside].map(isChosenByTabs)).toEqual([true, true]);
  expect([alone, chain].map(isChosenByTabs)).toEqual([false, false]);
});
