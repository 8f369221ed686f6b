import { describe, expect, test } from "vitest";
import { argumentsOf, settingsOf } from "./arguments";
import { Program } from "./program";
import { RecordBuilder } from "./testing/records";

/** What is said of an op of this schema that is called so; `{0}` is a value. */
function told(schema: string, template: string): string {
  const build = new RecordBuilder();
  const x = build.input("x", [4]);
  const node = build.call("op", [x, x]);
  build.output([node]);
  const record = build.record();
  const graph = record.graphs[0];
  if (!graph) throw new Error("there is no graph");
  const args = Array.from(graph.args);
  args[node] = record.strings.push(template) - 1;
  const targets = record.targets.map((target) => ({ ...target, schema }));
  const graphs = [{ ...graph, args: Int32Array.from(args) }];
  return settingsOf(new Program({ ...record, graphs, targets }), node);
}

const CONV =
  "aten::conv2d(Tensor input, Tensor weight, Tensor? bias=None, SymInt[2] stride=[1, 1], SymInt[2] padding=[0, 0], SymInt[2] dilation=[1, 1], SymInt groups=1) -> Tensor";

describe("what an op is told apart from its tensors", () => {
  test("has the schema's names, and what is the default goes without saying", () => {
    expect(told(CONV, "({0}, {1}, None, [2, 2], [1, 0])")).toBe("stride=2, padding=[1, 0]");
    expect(told(CONV, "({0}, {1}, None, [1, 1], [0, 0], [1, 1], 1)")).toBe("");
    const add = "aten::add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor";
    expect(told(add, "({0}, 2, alpha=3)")).toBe("other=2, alpha=3");
    expect(told(add, "({0}, {1}, alpha=1.0)")).toBe("");
    const to =
      "aten::to.dtype(Tensor(a) self, ScalarType dtype, bool non_blocking=False, bool copy=False, MemoryFormat? memory_format=None) -> Tensor(a)";
    expect(told(to, "({0}, torch.float16, True)")).toBe("dtype=torch.float16, non_blocking=True");
    const full =
      "aten::full(SymInt[] size, Scalar fill_value, *, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor";
    expect(told(full, "([2, {0}], 7.0, device=cpu, pin_memory=False, layout=torch.strided)")).toBe(
      "fill_value=7.0, device=cpu",
    );
  });

  test("leaves out where a slice starts and ends, if it is all of it", () => {
    const slice =
      "aten::slice.Tensor(Tensor(a) self, int dim=0, SymInt? start=None, SymInt? end=None, SymInt step=1) -> Tensor(a)";
    expect(told(slice, "({0}, 1, 0, 9223372036854775807)")).toBe("dim=1");
    expect(told(slice, "({0}, 0, 1, 5)")).toBe("start=1, end=5");
  });

  test("is read whatever stands in it", () => {
    const custom = "my::op(Tensor x, str mode='a, (b', str[] names=[], Dict(str, int) d) -> ()";
    expect(told(custom, "({0}, 'a, (b', ['x, y', \"it's\"])")).toBe(`names=['x, y', "it's"]`);
    expect(told(custom, "({0}, 'it\\'s, ok')")).toBe("mode='it\\'s, ok'");
    expect(told("", "({0}, 3, k=[1, 2])")).toBe("k=[1, 2]");
    expect(told("no schema at all", "((({0}")).toBe("");
    expect(told(CONV, "")).toBe("");
  });
});

test("arguments that are values are nodes, and keep their names", () => {
  const build = new RecordBuilder();
  const x = build.input("x", [4]);
  build.output([build.call("sin", [x])]);
  const program = new Program(build.record());
  const [only] = argumentsOf(program, 1);
  expect(only?.pieces).toEqual([{ node: x }]);
});
