import { expect, test } from "vitest";
import { evaluate, NoValue, sizesIn } from "./formula";
import rows from "./testing/formulas.json";

test("a formula has the value that the engine gives it", () => {
  for (const { text, formula, sizes, value } of rows) {
    const label = `${text} at ${sizes}`;
    if (value === null) expect(() => evaluate(formula, sizes), label).toThrow(NoValue);
    else if (typeof value === "boolean") expect(evaluate(formula, sizes), label).toBe(value);
    else expect(evaluate(formula, sizes), label).toBeCloseTo(value, 9);
  }
});

test("a size that is not there has no value, nor has an empty formula", () => {
  expect(() => evaluate(["d3"], [1])).toThrow(NoValue);
  expect(() => evaluate([], [1])).toThrow(NoValue);
  expect(() => evaluate(["toString"], [1])).toThrow(NoValue);
  expect(() => evaluate(["d0", "neg", 0.5, "**"], [4])).toThrow(NoValue);
});

test("the sizes that a formula is about", () => {
  expect([...sizesIn(["d2", 3, "//", "d0", "d2", "+", "<="])]).toEqual([2, 0]);
});
