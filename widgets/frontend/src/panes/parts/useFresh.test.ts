import { expect, test } from "vitest";
import { changed } from "./useFresh";

test("what is new, or other than before, is what to look at", () => {
  const before = new Map([["cpu", "8 ms"]]);
  expect(changed(before, before)).toBeUndefined();
  expect(changed(before, new Map([...before, ["profile", "1 ms"]]))).toBe("profile");
  expect(changed(before, new Map([["cpu", "7 ms"]]))).toBe("cpu");
});
