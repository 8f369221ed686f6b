import { expect, test } from "vitest";
import { floatsOf, heat, share } from "./values";

test("floats are read of a column, however narrow it was sent", () => {
  const bits = new Int32Array(new Float32Array([1.5, -2, 0]).buffer);

  expect([...floatsOf(bits)]).toEqual([1.5, -2, 0]);
  expect([...floatsOf(new Int8Array([0, 0]))]).toEqual([0, 0]);
});

test("the ends of a scale have its ends' colours, and what is not finite its own", () => {
  expect(share(5, 5, 5)).toBe(0.5);
  expect(heat(0, 0, 1)).toEqual([33, 102, 172, 255]);
  expect(heat(1, 0, 1)).toEqual([214, 96, 20, 255]);
  expect(heat(null, 0, 1)).toEqual([220, 20, 60, 255]);
});
