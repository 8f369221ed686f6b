/** A program with stages, as a compilation would have left them. */

import type { Kernel, Stages as Made, Record } from "../record.gen";
import { RecordBuilder } from "./records";

export const MARKUP = "<img src=x onerror=alert(1)>";

export function kernel(name: string, changes: Partial<Kernel> = {}): Kernel {
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
export const STAGES: Made = {
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
      text: `class G:\n    relu = f(x)\n    ${MARKUP}\n    sort = f(sin)`,
      ops: ["relu", "sin", "sort"],
      targets: ["aten.relu.default", "aten.sin.default", "aten.sort.default"],
      types: ["f32[4][1]cpu", "f32[4][1]cpu", ""],
      line: new Int32Array([2, 3, 4]),
      nodes: { starts: new Int32Array([0, 1, 2, 3]), items: new Int32Array([1, 2, 3]) },
      inputs: ["arg0_1"],
      input_types: ["f32[4][1]cpu"],
      input_nodes: new Int32Array([0]),
      reads: { starts: new Int32Array([0, 1, 2, 3]), items: new Int32Array([0, 1, 2]) },
      outputs: new Int32Array([3]),
    },
  ],
  kernels: [
    kernel("cpp_fused_relu_sin_0:1", { nodes: [1, 2], lines: [1, 0], ops: [0, 1], call_line: 2 }),
    kernel("extern.sort:2", {
      kind: "extern",
      calls: "aten.sort",
      ops: [2],
      nodes: [3],
      lines: [1],
      call_line: 3,
      microseconds: 9,
    }),
  ],
  backward: -1,
  lines: [
    { file: -1, name: "net.py", line: 7, code: "x.relu()" },
    { file: -1, name: "net.py", line: 5, code: MARKUP },
  ],
  codes: [{ title: "generated code", language: "python", text: "import a\nrelu(x)\nsort(x)" }],
  removed: new Int32Array([]),
  remarks: [{ kernel: 1, kind: "fusion", text: `\`sort\` is not fused ${MARKUP}`, lines: [1] }],
  guards: [],
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
export function stagedRecord(stages: Made[] = [STAGES]): Record {
  const build = new RecordBuilder("net(x)");
  const sin = build.call("sin", [build.call("relu", [build.input("x", [4])])]);
  build.output([build.call("sort", [sin])]);
  return { ...build.record(), stages };
}
