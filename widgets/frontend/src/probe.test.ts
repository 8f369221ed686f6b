import { expect, test } from "vitest";
import { exampleSizes, probeSizes, sliderRange, symbolValue, withSymbol } from "./probe";
import type { Probe, Rule, SizeInput } from "./record.gen";

const input = (text: string, example: number, more: Partial<SizeInput> = {}): SizeInput => ({
  entry: 0,
  dim: 0,
  text,
  example,
  size: "n",
  symbol: 0,
  scale: 1,
  offset: 0,
  ...more,
});

const rule = (formula: Rule["formula"], more: Partial<Rule> = {}): Rule => ({
  kind: "guard",
  text: formula.join(" "),
  formula,
  guard: -1,
  stack: -1,
  enforced: true,
  ...more,
});

/** `x` has n, `y` has 2*n + 1; n is 2 to 16, and the output has n // 2. */
const PROBE: Probe = {
  inputs: [input("x.shape[0]", 4), input("y.shape[0]", 9, { scale: 2, offset: 1 })],
  rules: [
    rule(["d0", 2, ">="], { enforced: false }),
    rule(["d0", 16, "<="]),
    rule(["d1", "d0", 2, "*", 1, "+", "=="]),
  ],
  outputs: [
    { entry: 0, dim: 0, size: "n // 2", formula: ["d0", 2, "//"] },
    { entry: 0, dim: 1, size: "u0", formula: [] },
  ],
};

test("the example is accepted, with the sizes that come out", () => {
  const result = probeSizes(PROBE, exampleSizes(PROBE));
  expect(result.verdict).toBe("accepted");
  expect(result.outputs).toEqual([2, null]);
});

test("a symbol moves every place that is made from it", () => {
  const sizes = withSymbol(PROBE, exampleSizes(PROBE), 0, 7);
  expect(sizes).toEqual([7, 15]);
  expect(symbolValue(PROBE, sizes, 0)).toBe(7);
  expect(symbolValue(PROBE, sizes, 5)).toBeNull();
  expect(probeSizes(PROBE, sizes).verdict).toBe("accepted");
});

test("rules that refuse come before those that are not enforced", () => {
  const result = probeSizes(PROBE, [1, 99]);
  expect(result.verdict).toBe("refused");
  expect(result.broken.map((each) => each.enforced)).toEqual([true, false]);
  expect(probeSizes(PROBE, [1, 3]).verdict).toBe("unchecked");
});

test("a rule that has no value is broken, and one without a formula is unknown", () => {
  const odd: Probe = { ...PROBE, rules: [rule(["d0", 0, "//", 1, "=="]), rule([])] };
  const result = probeSizes(odd, [4, 9]);
  expect(result.verdict).toBe("refused");
  expect(result.unknown).toHaveLength(1);
});

test("a slider goes beyond both ends of a range, and never below 0", () => {
  const range = (lower: number | null, upper: number | null, example: number | null, value = 8) =>
    sliderRange({ lower, upper, example }, value);
  expect(range(2, 16, 8)).toEqual({ least: 0, most: 19 });
  expect(range(10, 16, 12, 12)).toEqual({ least: 7, most: 19 });
  expect(range(2, 512, 8)).toEqual({ least: 0, most: 538 });
  expect(range(2, null, 100)).toEqual({ least: 0, most: 420 });
  expect(range(2, 2 ** 63, 8)).toEqual({ least: 0, most: 35 });
  expect(range(null, null, null, 90)).toEqual({ least: 0, most: 90 });
});

test("a size that is not finite is not known", () => {
  const huge: Probe = {
    ...PROBE,
    outputs: [{ entry: 0, dim: 0, size: "n", formula: ["d0", 64, "**"] }],
  };
  expect(probeSizes(huge, [2 ** 40, 9]).outputs).toEqual([null]);
});
