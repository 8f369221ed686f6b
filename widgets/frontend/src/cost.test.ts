import { expect, test } from "vitest";
import { CostModel, estimate, exampleValues } from "./cost";
import { costs } from "./decorations/cost";
import { gathered } from "./decorations/decoration";
import { buildForest } from "./forest/forest";
import { NoValue } from "./formula";
import { nodeId, Program } from "./program";
import { smallTable } from "./testing/cost_table";
import { RecordBuilder } from "./testing/records";

function model(changes = {}): CostModel {
  const builder = new RecordBuilder();
  const x = builder.input("x", ["s"]);
  const inner = builder.scope("inner", "Inner");
  const double = builder.call("mul", [x], { shape: ["s"], scope: inner });
  builder.output([builder.call("outer", [double], { shape: ["s", "s"] })]);
  return new CostModel(new Program(builder.record()), smallTable(changes));
}

test("formulas are evaluated at the sizes that are tried", () => {
  const cost = model();
  expect(exampleValues(cost.program)).toEqual([4]);
  const at = cost.at([5]);
  expect([...at.flops]).toEqual([40, 50]);
  expect([...at.moved]).toEqual([40, 120]);
  expect(at.totalFlops).toBe(90);
  expect([...at.alive]).toEqual([0, 20, 125, 100]);
  expect([at.peak, at.peakBytes, at.inputs, at.total]).toEqual([2, 125, 20, 185]);
  expect(cost.aliveAtNode(at, 2)).toEqual([
    { node: nodeId(0, 2), bytes: 100 },
    { node: nodeId(0, 1), bytes: 20 },
  ]);
});

test("the ranking follows the sizes", () => {
  const cost = model();
  const most = (size: number) => cost.ranking(cost.at([size]).flops, "op")[0]?.name;
  expect(most(3)).toBe("aten.mul.default");
  expect(most(5)).toBe("aten.outer.default");
});

test("the largest size that fits is found", () => {
  const cost = model();
  const largest = cost.largestFitting([4], 0, 1000) as number;
  expect(cost.at([largest]).total).toBeLessThanOrEqual(1000);
  expect(cost.at([largest + 1]).total).toBeGreaterThan(1000);
  expect(cost.largestFitting([4], 0, 10)).toBeNull();
});

test("the next size is found at which another kind of op does most", () => {
  const cost = model();
  const next = cost.nextOvertaking([3], 0);
  expect(next).toEqual({ at: 5, more: "aten.outer.default", less: "aten.mul.default" });
  expect(cost.nextOvertaking([5], 0)).toBeNull();
});

test("an estimate is the longer of computing and moving", () => {
  const at = model().at([5]);
  expect(estimate(at, { flops: 10, bandwidth: 1e9 }).time).toBeCloseTo(9);
  expect(estimate(at, { flops: 1e9, bandwidth: 10 })).toEqual({ time: 16, bound: 1 });
});

test("a formula without a value is refused", () => {
  const cost = model({ factors: [[1, "d0", "/"]] });
  expect(() => cost.at([0])).toThrow(NoValue);
});

test("a box is coloured by the sum of what is in it", () => {
  const cost = model();
  const forest = buildForest(cost.program, { housekeeping: false, parameters: false });
  const [flops] = costs(cost, cost.at([5]));
  if (!flops) throw new Error("there is no decoration");
  const marks = gathered(flops, forest);
  const item = forest.itemOf.get(nodeId(0, 1));
  expect(item && marks.get(item)).toEqual({ amount: 40, own: true });
  expect(flops.marks.get(nodeId(0, 2))).toEqual({ amount: 50 });
  expect(flops.measure?.text(40)).toBe("40 FLOPs, 44 %");
});

test("10,000 ops are evaluated and coloured in less than a frame", () => {
  const count = 10_000;
  const builder = new RecordBuilder();
  let last = builder.input("x", ["s"]);
  for (let layer = 0; layer < 100; layer++) {
    const scope = builder.scope(`layer${layer}`, "Layer");
    for (let at = 0; at < count / 100; at++) {
      last = builder.call("mul", [last], { shape: ["s"], scope });
    }
  }
  builder.output([last]);
  const nodes = Array.from({ length: count }, (_, at) => at + 1);
  const each = {
    starts: [0, ...nodes],
    products: nodes.map(() => 0),
    scales: nodes.map(() => 4),
  };
  const table = smallTable({
    nodes,
    flops: each,
    read: each,
    written: each,
    makers: nodes,
    lasts: nodes.map((node) => node + 1),
    held: each,
    scratch: { ...each, scales: nodes.map(() => 0) },
  });
  const cost = new CostModel(new Program(builder.record()), table);
  const forest = buildForest(cost.program, { housekeeping: false, parameters: false });
  const items = [...forest.itemOf.values()];
  const step = (size: number): void => {
    const at = cost.at([size]);
    const [flops] = costs(cost, at);
    if (flops) for (const item of items) gathered(flops, forest).get(item); // the one shown
    cost.ranking(at.flops, "op");
  };
  const [all] = costs(cost, cost.at([2]));
  const sums = all ? [...gathered(all, forest)] : [];
  expect(Math.max(...sums.map(([, { amount = 0 }]) => amount))).toBe((8 * count) / 100);
  let quickest = Number.POSITIVE_INFINITY; // others take the cores meanwhile
  for (let size = 3; size < 43; size++) {
    const start = performance.now();
    step(size);
    quickest = Math.min(quickest, performance.now() - start);
  }
  expect(quickest).toBeLessThan(33);
});
