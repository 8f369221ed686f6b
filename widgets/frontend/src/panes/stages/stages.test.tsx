import { render } from "preact";
import { act } from "preact/test-utils";
import { describe, expect, test } from "vitest";
import { KERNELS, kernels as kernelsDecoration } from "../../decorations/kernels";
import { nodeId, Program } from "../../program";
import type { Kernel, Stages as Made, Record } from "../../record.gen";
import { kernelsOf, lineSets, linesText, nodesOfKernels } from "../../stages";
import { type Answers, type FakeHost, storeOf } from "../../testing/fake_host";
import { freshPage, page } from "../../testing/page";
import { RecordBuilder } from "../../testing/records";
import { Stages } from "./Stages";

const MARKUP = "<img src=x onerror=alert(1)>";

freshPage();

function kernel(name: string, changes: Partial<Kernel> = {}): Kernel {
  return {
    name,
    kind: "fused",
    calls: "",
    ops: [],
    nodes: [],
    lines: [],
    code: 0,
    call_line: 1,
    body: -1,
    body_line: 0,
    microseconds: 1,
    spread: 0,
    ...changes,
  };
}

/** relu and sin are one kernel of two lines; sort is one of its own. */
const STAGES: Made = {
  version: 1,
  backend: "inductor",
  title: "torch.compile inductor",
  settings: "",
  device: "cpu",
  inputs: "example",
  torch_version: "2.13.0",
  seconds: 12,
  cached: false,
  exported: 3,
  graphs: [
    {
      name: "post-grad",
      text: `class G:\n    relu = f(x)\n    ${MARKUP}`,
      ops: ["relu"],
      targets: ["aten.relu.default"],
      types: ["f32[4]"],
      line: new Int32Array([2]),
      nodes: { starts: new Int32Array([0, 1]), items: new Int32Array([1]) },
    },
  ],
  kernels: [
    kernel("cpp_fused_relu_sin_0:1", { nodes: [1, 2], lines: [1, 0], ops: [0], call_line: 2 }),
    kernel("extern.sort:2", {
      kind: "extern",
      calls: "aten.sort",
      nodes: [3],
      lines: [1],
      call_line: 3,
      microseconds: 9,
    }),
  ],
  lines: [
    { file: -1, name: "net.py", line: 7, code: "x.relu()" },
    { file: -1, name: "net.py", line: 5, code: MARKUP },
  ],
  codes: [{ title: "generated code", language: "python", text: "import a\nrelu(x)\nsort(x)" }],
  removed: new Int32Array([]),
  remarks: [{ kernel: 1, kind: "fusion", text: `\`sort\` is not fused ${MARKUP}`, lines: [1] }],
  times: {
    method: "Medians.",
    calls: 9,
    call: 20,
    spread: 1,
    kernels: 10,
    overhead: 10,
    owned: 1,
    between: 0,
    other: "",
  },
  left_out: [],
};

/** x → relu → sin → sort → output. */
function record(stages: Made[] = [STAGES]): Record {
  const build = new RecordBuilder("net(x)");
  const sin = build.call("sin", [build.call("relu", [build.input("x", [4])])]);
  build.output([build.call("sort", [sin])]);
  return { ...build.record(), stages };
}

async function show(shown: Record, answers: Answers = {}) {
  const { store, program } = storeOf(shown, answers);
  await act(async () => render(<Stages store={store} program={program} />, page));
  return { store, host: store.host as FakeHost };
}

const rows = (part: string): HTMLElement[] => [
  ...page.querySelectorAll<HTMLElement>(`[data-testid="${part}"] tbody tr`),
];

describe("stages", () => {
  test("each kernel counts once, for the set of its lines", () => {
    expect(lineSets(STAGES).map(({ kernels, microseconds }) => [kernels, microseconds])).toEqual([
      [[1], 9],
      [[0], 1],
    ]);
    expect(linesText(STAGES, [0, 1])).toBe("net.py:5, 7");
  });

  test("an op has its kernels, and a kernel its ops", () => {
    expect([...kernelsOf(STAGES, [nodeId(0, 2)])]).toEqual([0]);
    expect([...kernelsOf(STAGES, [nodeId(1, 2)])]).toEqual([]);
    expect(nodesOfKernels(STAGES, [0])).toEqual([nodeId(0, 1), nodeId(0, 2)]);
  });

  test("a kernel's time is neither split among its ops nor added up", () => {
    const decoration = kernelsDecoration(new Program(record()));
    expect(decoration?.name).toBe(KERNELS);
    expect(decoration?.marks.get(nodeId(0, 1))).toEqual({ amount: 1, most: true });
    expect(decoration?.marks.get(nodeId(0, 2))).toEqual({ amount: 1, most: true });
    expect(kernelsDecoration(new Program(record([])))).toBe(null);
  });

  test("a kernel selects its ops, and an op shows its kernel", async () => {
    const { store } = await show(record());
    await act(() => rows("stage-kernels")[0]?.click());
    expect(store.lit.value.nodes).toEqual(new Set([nodeId(0, 3)]));
    expect(page.textContent).toContain("aten.sort");

    await act(() => store.select({ kind: "nodes", nodes: [nodeId(0, 1)] }, "graph"));
    expect(page.querySelector('[data-testid="stage-kernel"] h3')?.textContent).toBe(
      "cpp_fused_relu_sin_0:1",
    );
    expect(rows("stage-kernels").map((row) => row.classList.contains("tx-lit"))).toEqual([
      false,
      true,
    ]);
  });

  test("the code opens at the kernel's call", async () => {
    const { store } = await show(record());
    await act(() => store.select({ kind: "nodes", nodes: [nodeId(0, 3)] }, "graph"));
    await act(() => page.querySelector<HTMLElement>('[data-testid="stage-call"]')?.click());
    const lit = [...page.querySelectorAll(".tx-line.tx-lit")];
    expect(lit.map((line) => line.getAttribute("data-line"))).toEqual(["3"]);
    await act(() => page.querySelector<HTMLElement>('[data-line="2"]')?.click());
    expect(store.lit.value.nodes).toEqual(new Set([nodeId(0, 1), nodeId(0, 2)]));
  });

  test("the button compiles, and what it takes is said before", async () => {
    const { host } = await show(record([]), { action: () => null, record: record() });
    expect(page.textContent).toContain("tens of seconds");
    await act(() => page.querySelector<HTMLElement>('[data-testid="stages-run"]')?.click());
    expect(host.requests[host.asked.indexOf("stages")]).toEqual({
      attempt: 0,
      backend: "inductor",
      device: "cpu",
    });
  });

  test("text of a model is set as text", async () => {
    await show(record());
    expect(page.querySelector("img")).toBe(null);
    expect(page.textContent).toContain(MARKUP);
  });
});
