import { describe, expect, test } from "vitest";
import { KERNELS, kernels as kernelTimes } from "../decorations/kernels";
import { stageNotes } from "../decorations/stage_notes";
import { buildForest } from "../forest/forest";
import { nodeId, Program } from "../program";
import type { Stages } from "../record.gen";
import { storeOf } from "../testing/fake_host";
import { RecordBuilder } from "../testing/records";
import { STAGES, stagedRecord } from "../testing/stages";
import { LinkedStage } from "./linked_stage";
import { rungsOf, type StageProgram, stageProgram } from "./stage_program";

const PLAIN = { housekeeping: false, parameters: false };

function stageOf(rung: "post-grad" | "kernels", stages: Stages = STAGES): StageProgram {
  const made = stageProgram(new Program(stagedRecord([stages])), stages, rung);
  if (!made) throw new Error("there is no such stage");
  return made;
}

describe("a stage as a program", () => {
  test("has its inputs, its ops and what they read", () => {
    const { program } = stageOf("post-grad");
    const names = [...program.allNodes()].map((id) => program.name(id));
    expect(names).toEqual(["arg0_1", "relu", "sin", "sort", "output"]);
    expect([1, 2, 3, 4].map((id) => program.inputsOf(id))).toEqual([[0], [1], [2], [3]]);
    expect(program.target(2)?.label).toBe("sin");
    expect(program.type(1)).toMatchObject({ dtype: "float32", shape: [4], stride: [1] });
    expect(program.input(0)?.path).toBe("x");
  });

  test("knows where each op comes from, and what becomes of one", () => {
    const stage = stageOf("post-grad");
    expect(stage.originsOf([2])).toEqual([nodeId(0, 2)]);
    expect(stage.offspringOf([nodeId(0, 0), nodeId(0, 3)])).toEqual([0, 3]);
    expect(stage.kernelAt([1, 2])).toBe(0);
    expect(stage.nodesOf(1)).toEqual([3]);
  });

  test("of kernels has a box for each, with its ops inside", () => {
    const stage = stageOf("kernels");
    const { root } = buildForest(stage.program, PLAIN);
    const [, fused, sort] = root.children;
    expect(fused?.title).toBe("cpp_fused_relu_sin_0:1");
    expect(fused?.children.map(({ title }) => title)).toEqual(["relu", "sin"]);
    expect([sort?.title, sort?.subtitle]).toEqual(["sort", "extern.sort:2"]);
  });

  test("of kernels is coloured by their times", () => {
    const decoration = kernelTimes(stageOf("kernels").program);
    expect(decoration?.name).toBe(KERNELS);
    expect(decoration?.marks.get(3)?.amount).toBe(9);
  });

  test("is drawn without edges where the backend tells only names", () => {
    const [graph] = STAGES.graphs;
    if (!graph) throw new Error("no graph");
    const none = { starts: new Int32Array([0]), items: new Int32Array(0) };
    const bare = {
      ...graph,
      inputs: [],
      input_types: [],
      input_nodes: new Int32Array(0),
      reads: none,
      outputs: new Int32Array(0),
    };
    const { program } = stageOf("kernels", { ...STAGES, graphs: [bare] });
    expect(program.inputsOf(1)).toEqual([]);
    expect([...program.allNodes()]).toHaveLength(4);
  });

  test("a rung that a backend does not tell is not there", () => {
    expect(rungsOf(STAGES)).toEqual(["exported", "post-grad", "kernels"]);
    expect(rungsOf({ ...STAGES, graphs: [] })).toEqual(["exported"]);
    const stages = { ...STAGES, graphs: [] };
    expect(stageProgram(new Program(stagedRecord([stages])), stages, "kernels")).toBe(null);
  });
});

describe("selection across stages", () => {
  const linked = () => {
    const { store } = storeOf(stagedRecord());
    return { store, link: new LinkedStage(store, stageOf("kernels")) };
  };

  test("an op of the program lights what it became", () => {
    const { store, link } = linked();
    store.select({ kind: "nodes", nodes: [nodeId(0, 2)] }, "graph");
    expect([...link.store.lit.value.nodes]).toEqual([2]);
    store.clear();
    expect([...link.store.lit.value.nodes]).toEqual([]);
  });

  test("an op of the stage lights where it comes from, and stays the only one here", () => {
    const { store, link } = linked();
    link.store.select({ kind: "nodes", nodes: [1] }, "graph");
    expect([...store.lit.value.nodes]).toEqual([nodeId(0, 1)]);
    expect([...link.store.lit.value.nodes]).toEqual([1]);
    expect(store.kernel.value).toBe(0);
  });

  test("a kernel lights all its ops, also those of no op of the program", () => {
    const { store, link } = linked();
    store.selectKernel(0, { kind: "nodes", nodes: [nodeId(0, 1)] });
    expect([...link.store.lit.value.nodes]).toEqual([1, 2]);
  });

  test("two stages follow one another by way of the program", () => {
    const { store, link } = linked();
    const other = new LinkedStage(store, stageOf("post-grad"));
    other.store.select({ kind: "nodes", nodes: [3] }, "graph");
    expect([...link.store.lit.value.nodes]).toEqual([3]);
    other.dispose();
    link.dispose();
  });
});

test("a selection of 10,000 ops goes to a stage and back within a frame", () => {
  const count = 10_000;
  const build = new RecordBuilder("net(x)");
  let last = build.input("x", [4]);
  for (let op = 0; op < count; op++) last = build.call("sin", [last]);
  build.output([last]);
  const all = Array.from({ length: count }, (_, op) => op);
  const each = { starts: Int32Array.from([...all, count]), items: Int32Array.from(all) };
  const [graph, kernel] = [STAGES.graphs[0], STAGES.kernels[0]];
  if (!graph || !kernel) throw new Error("no stages");
  const stages: Stages = {
    ...STAGES,
    graphs: [
      {
        ...graph,
        ops: all.map((op) => `sin_${op}`),
        targets: all.map(() => "aten.sin.default"),
        types: all.map(() => "f32[4][1]cpu"),
        line: new Int32Array(count),
        nodes: { starts: each.starts, items: each.items.map((node) => node + 1) },
        reads: each,
      },
    ],
    kernels: Array.from({ length: 1000 }, (_, number) => {
      const ops = all.slice(10 * number, 10 * number + 10);
      return { ...kernel, ops, nodes: ops.map((op) => op + 1) };
    }),
  };
  const { store, program } = storeOf({ ...build.record(), stages: [stages] });
  const stage = stageProgram(program, stages, "kernels");
  if (!stage) throw new Error("no stage");
  const link = new LinkedStage(store, stage);
  let quickest = Number.POSITIVE_INFINITY; // others take the cores meanwhile
  for (let tries = 0; tries < 20; tries++) {
    const start = performance.now();
    store.select({ kind: "nodes", nodes: all.map((op) => nodeId(0, op + 1)) }, "graph");
    link.store.select({ kind: "nodes", nodes: [nodeId(0, 1 + tries)] }, "graph");
    quickest = Math.min(quickest, performance.now() - start);
  }
  expect(link.store.lit.value.nodes.size).toBe(1);
  expect(store.lit.value.nodes.size).toBe(1);
  expect(quickest).toBeLessThan(16);
});

test("an op that the compiler removed, or that is worth a look, says so", () => {
  const stages = { ...STAGES, removed: new Int32Array([3]) };
  const marks = stageNotes(new Program(stagedRecord([stages])))?.marks;
  expect(marks?.get(nodeId(0, 3))?.note).toContain("removed it");
  expect(stageNotes(new Program(stagedRecord([])))).toBe(null);
});
