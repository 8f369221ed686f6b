/** Programs for tests, each the shape of something real. */

import { Program } from "../program";
import { RecordBuilder } from "./records";

/** A scope with a linear and its parameters, then a relu outside every scope. */
export function smallProgram(): Program {
  const build = new RecordBuilder();
  const linear = build.scope("lin", "Linear");
  const weight = build.parameter("lin.weight", [6, 4]);
  const bias = build.parameter("lin.bias", [6]);
  const x = build.input("x", ["batch", 4]);
  const y = build.call("linear", [x, weight, bias], { scope: linear, shape: ["batch", 6] });
  const z = build.call("relu", [y]);
  build.output([z]);
  return new Program(build.record());
}

/** A linear as PT2E leaves it: its weight dequantized, its input quantized and dequantized. */
export function quantizedProgram(): Program {
  const build = new RecordBuilder();
  const weight = build.parameter("weight", [6, 4]);
  const x = build.input("x", [2, 4]);
  const floats = build.call("dequantize_per_channel", [weight]);
  const fewer = build.call("quantize_per_tensor", [x]);
  const input = build.call("dequantize_per_tensor", [fewer]);
  const linear = build.call("linear", [input, floats], { shape: [2, 6] });
  build.output([linear]);
  const record = build.record();
  const plain = { dtype: "int8", bits: 8, low: -128, high: 127, axis: -1, group: 0 };
  return new Program({
    ...record,
    quantization: {
      layers: [
        {
          node: linear,
          folded: [floats, fewer, input],
          result: linear,
          scheme: "int8 weights, int8 inputs",
          tensors: [
            {
              ...{ ...plain, role: "weight", node: weight, name: "weight", dynamic: false },
              ...{ granularity: "channel", axis: 0, scales: 6, scale: [0.001, 0.002] },
              ...{ zero_point: [], bytes: 48, float_bytes: 96 },
            },
            {
              ...{ ...plain, role: "input", node: fewer, name: "x", dynamic: false },
              ...{ granularity: "tensor", scales: 1, scale: [0.02, 0.02] },
              ...{ zero_point: [3, 3], bytes: 0, float_bytes: 0 },
            },
          ],
        },
      ],
      in_float: [],
      bytes: 48,
      float_bytes: 96,
      unread_bytes: 0,
    },
  });
}

/**
 * Layers in a chain, all fed by one `mask`, each with its own attention and its own weight; `odd`
 * names a layer with one op more.
 */
export function layeredProgram(layers: number, odd = -1): Program {
  const build = new RecordBuilder();
  const encoder = build.scope("encoder", "Encoder");
  const x = build.input("x", ["batch", "seq", 8]);
  const mask = build.call("ones", [x], { shape: ["batch", "seq"] });
  let value = build.call("embed", [x]);
  for (let index = 0; index < layers; index++) {
    const layer = build.scope(`layer.${index}`, "Layer", encoder);
    const attention = build.scope("attention", "Attention", layer);
    const weight = build.parameter(`encoder.layer.${index}.weight`, [8, 8]);
    const scores = build.call("matmul", [value, value], { scope: attention });
    const masked = build.call("add", [scores, mask], { scope: attention });
    value = build.call("linear", [masked, weight], { scope: layer });
    if (index === odd) value = build.call("gelu", [value], { scope: layer });
  }
  build.output([value]);
  return new Program(build.record());
}

/** A cond with two branches, one of which uses a parameter of the program. */
export function branchingProgram(): Program {
  const build = new RecordBuilder();
  const weight = build.parameter("weight", [4]);
  const x = build.input("x", ["batch", 4]);
  const predicate = build.call("gt", [x], { shape: [] });
  const cond = build.call("cond", [predicate, x, weight], { kind: "higher_order" });
  build.branch(cond, "true_fn", (graph) => {
    const input = graph.placeholder("x", ["batch", 4]);
    const held = graph.placeholder("p_weight", [4]);
    graph.output([graph.call("mul", [input, held])]);
  });
  build.branch(cond, "false_fn", (graph) => {
    const input = graph.placeholder("x", ["batch", 4]);
    graph.placeholder("p_weight", [4]);
    graph.output([graph.call("sin", [input])]);
  });
  build.output([build.call("neg", [cond])]);
  return new Program(build.record());
}

/** Where the lines of `tracedRecord` are. */
export const CELL = "class Net:\n  def forward(self, x):\n    y = self.lin(x)\n    return twice(y)";

/**
 * A program with stacks: `lin` is called from line 3 of a cell, `mul` from line 4 through a library's
 * helper. Guards and a parameter that is not in the state dict are there too.
 */
export function tracedRecord(): RecordBuilder {
  const build = new RecordBuilder("net(x)");
  const cell = build.file("Cell In[2]", "cell");
  const helper = build.file("helpers/twice.py", "library");
  const torch = build.file("torch/nn/modules/linear.py", "torch");
  const lin = build.scope("lin", "Linear");
  const weight = build.parameter("lin.weight", [6, 4]);
  const x = build.input("x", ["batch", 4]);
  const y = build.call("linear", [x, weight], {
    scope: lin,
    shape: ["batch", 6],
    stack: [
      [cell, 3, "forward"],
      [torch, 134, "forward"],
    ],
  });
  const size = build.call("sym_size", [y], { shape: [], housekeeping: true });
  const z = build.call("mul", [y, size], {
    shape: ["batch", "2*batch"],
    stack: [
      [cell, 4, "forward"],
      [helper, 10, "twice"],
    ],
  });
  build.guard("batch <= 16", ["batch"], [[cell, 4, "forward"]]);
  build.output([z]);
  return build;
}
