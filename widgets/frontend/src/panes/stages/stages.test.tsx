import { render } from "preact";
import { act } from "preact/test-utils";
import { describe, expect, test } from "vitest";
import { Comparison } from "../../compare/comparison";
import { KERNELS, kernels as kernelsDecoration } from "../../decorations/kernels";
import { nodeId, Program } from "../../program";
import type { Record } from "../../record.gen";
import { kernelsOf, lineSets, linesText, nodesOfKernels } from "../../stages";
import { type Answers, type FakeHost, storeOf } from "../../testing/fake_host";
import { freshPage, page } from "../../testing/page";
import { RecordBuilder } from "../../testing/records";
import { MARKUP, STAGES, stagedRecord } from "../../testing/stages";
import { Stages } from "./Stages";

freshPage();

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
    const decoration = kernelsDecoration(new Program(stagedRecord()));
    expect(decoration?.name).toBe(KERNELS);
    expect(decoration?.marks.get(nodeId(0, 1))).toEqual({ amount: 1, most: true });
    expect(decoration?.marks.get(nodeId(0, 2))).toEqual({ amount: 1, most: true });
    expect(kernelsDecoration(new Program(stagedRecord([])))).toBe(null);
  });

  test("a kernel selects its ops, and an op shows its kernel", async () => {
    const { store } = await show(stagedRecord());
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
    const { store } = await show(stagedRecord());
    await act(() => store.select({ kind: "nodes", nodes: [nodeId(0, 3)] }, "graph"));
    await act(() => page.querySelector<HTMLElement>('[data-testid="stage-call"]')?.click());
    const lit = [...page.querySelectorAll(".tx-line.tx-lit")];
    expect(lit.map((line) => line.getAttribute("data-line"))).toEqual(["3"]);
    await act(() => page.querySelector<HTMLElement>('[data-line="2"]')?.click());
    expect(store.lit.value.nodes).toEqual(new Set([nodeId(0, 1), nodeId(0, 2)]));
  });

  test("the button compiles, and what it takes is said before", async () => {
    const { host } = await show(stagedRecord([]), { action: () => null, record: stagedRecord() });
    expect(page.textContent).toContain("tens of seconds");
    await act(() => page.querySelector<HTMLElement>('[data-testid="stages-run"]')?.click());
    expect(host.requests[host.asked.indexOf("stages")]).toEqual({
      attempt: 0,
      backend: "inductor",
      device: "cpu",
      options: {},
    });
  });

  test("two compilations are compared stage by stage", async () => {
    const [graph, sort] = [STAGES.graphs[0], STAGES.kernels[1]];
    if (!graph || !sort) throw new Error("no stages");
    const whole = { ...sort, name: "cpp_fused_all_0:1", calls: "", nodes: [1, 2, 3] };
    const other: typeof STAGES = {
      ...STAGES,
      settings: "max_autotune=True",
      graphs: [{ ...graph, targets: [...graph.targets.slice(1), "aten.clone.default"] }],
      kernels: [{ ...whole, kind: "fused", microseconds: 4 }],
      remarks: [],
    };
    const { store } = await show(stagedRecord([STAGES, other]));
    const against = page.querySelector<HTMLSelectElement>('[data-testid="stages-against"]');
    await act(() => {
      if (against) against.value = "0";
      against?.dispatchEvent(new Event("change"));
    });
    const text = page.querySelector('[data-testid="stage-changes"]')?.textContent;
    expect(text).toContain("+1 aten.clone.default");
    expect(text).toContain("−1 aten.relu.default");
    const [row, ...more] = rows("stage-changes");
    expect(more).toEqual([]);
    expect(row?.textContent).toContain("merged");
    expect(row?.textContent).toContain("−6");
    await act(() => row?.click());
    expect(store.lit.value.nodes.size).toBe(3);
  });

  test("a compilation of the program compared with is compared op by op", async () => {
    const build = new RecordBuilder("net2(x)");
    const abs = build.call("abs", [build.input("x", [4])]);
    const sin = build.call("sin", [build.call("relu", [abs])]);
    build.output([build.call("sort", [sin])]);
    const [fused, sort] = STAGES.kernels;
    if (!fused || !sort) throw new Error("no kernels");
    const alone = { ...fused, name: "cpp_fused_abs_0:1", nodes: [1], microseconds: 3 };
    const [later, last] = [
      { ...fused, nodes: [2, 3] },
      { ...sort, nodes: [4] },
    ];
    const before = { ...STAGES, kernels: [alone, later, last] };
    const { store } = await show(stagedRecord());
    const program = store.program.value;
    if (!program) throw new Error("no program");
    const pairs = [0, 1, 2, 3].map((node) => ({
      before: node && node + 1,
      after: node,
      why: "structure" as const,
      changes: [],
    }));
    const graph = {
      before: 0,
      after: 0,
      title: "main",
      pairs,
      removed: [1],
      added: [],
      became: [],
    };
    const other = new Program({ ...build.record(), stages: [before] });
    const diff = { before: "", after: "", symbols: [], others: [], renamed: [], modules: [] };
    await act(() => {
      store.comparison.value = new Comparison(1, other, program, {
        ...diff,
        identical: false,
        weights: "",
        graphs: [graph],
      });
    });
    const against = page.querySelector<HTMLSelectElement>('[data-testid="stages-against"]');
    await act(() => {
      if (against) against.value = "1";
      against?.dispatchEvent(new Event("change"));
    });
    expect(rows("stage-changes").map((row) => row.textContent)).toEqual([
      expect.stringContaining("gonecpp_fused_abs_0:1"),
    ]);
    expect(page.textContent).toContain("2 groups are the same");
  });

  test("text of a model is set as text", async () => {
    await show(stagedRecord());
    expect(page.querySelector("img")).toBe(null);
    expect(page.textContent).toContain(MARKUP);
  });
});
