import { expect, test } from "vitest";
import { cellFor } from "./program_tab";

test("the cell that goes on from a file is Python, whatever the file is called", () => {
  expect(cellFor("a.pt2")).toContain('ex = explorer.load("a.pt2")');
  expect(cellFor('a") or exit("')).toContain('explorer.load("a\\") or exit(\\"")');
});
