import { expect, test } from "vitest";
import { bytesText, capped, counted, rangeText } from "./format";

test.each([
  [{ lower: 2, upper: 512 }, "[2, 512]"],
  [{ lower: 2, upper: null }, "[2, ∞)"],
  [{ lower: null, upper: 4 }, "(−∞, 4]"],
  [{ lower: 0, upper: 2 ** 63 }, "[0, ∞)"],
])("a range reads as an interval: %o", (symbol, text) => {
  expect(rangeText(symbol)).toBe(text);
});

test.each([
  [0, "0 B"],
  [999, "999 B"],
  [1500, "1.5 kB"],
  [123_456, "123 kB"],
  [7_000_000_000, "7.0 GB"],
])("%d bytes are %s", (bytes, text) => {
  expect(bytesText(bytes)).toBe(text);
});

test("one is not many", () => {
  expect(counted(1, "op")).toBe("1 op");
  expect(counted(1187, "op")).toBe("1,187 ops");
  expect(counted(2, "match", "matches")).toBe("2 matches");
});

test("a text of any length is short enough for a tooltip", () => {
  expect(capped("n".repeat(10_000)).length).toBeLessThan(500);
});
