import { expect, test } from "vitest";
import { decorationsOf } from "./decorations/registry";
import { foldedInto, tensorText, weightText } from "./quantization";
import { quantizedProgram, smallProgram } from "./testing/models";

const program = quantizedProgram();
const layer = program.record.quantization?.layers[0];

test("what only quantizes belongs to its op", () => {
  expect([...foldedInto(program).values()]).toEqual(Array(3).fill(layer?.node));
  expect(foldedInto(smallProgram()).size).toBe(0);
});

test("a quantized tensor is told by dtype, granularity, scale and zero point", () => {
  expect(layer?.tensors.map(tensorText)).toEqual([
    "int8 per channel, scale 0.001 to 0.002",
    "int8, scale 0.02, zero point 3",
  ]);
  expect(weightText(layer?.tensors ?? [])).toBe("48 B of 96 B");
});

test("a quantized op has a badge, and the legend says what it is", () => {
  const found = decorationsOf(program).find(({ name }) => name === "quantization");
  expect(found?.marks.get(layer?.node ?? -1)?.badge?.sign).toBe("q");
  expect(found?.legend).toHaveLength(2);
  expect(decorationsOf(smallProgram()).some(({ name }) => name === "quantization")).toBe(false);
});
