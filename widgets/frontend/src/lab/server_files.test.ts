import { expect, test } from "vitest";
import { belowRoot } from "./server_files";

test("a file of Python's is the server's where it is below its root", () => {
  expect(belowRoot(["/home/me/work", "/data/work"], "/data/work/a/b.py")).toBe("a/b.py");
  expect(belowRoot(["/home/me/work/"], "/home/me/work/b.py")).toBe("b.py");
  expect(belowRoot(["C:\\work"], "C:\\work\\b.py")).toBe("b.py");
  expect(belowRoot(["/home/me/work"], "/home/me/workshop/b.py")).toBeNull();
  expect(belowRoot([], "/home/me/b.py")).toBeNull();
});
