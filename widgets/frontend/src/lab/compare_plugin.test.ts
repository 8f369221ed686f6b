import { expect, test } from "vitest";
import { type BrowserFile, comparable } from "./compare_plugin";

function file(path: string, last_modified: string, type = "file"): BrowserFile {
  return { path, type, last_modified };
}

const OLD = file("a/z.pt2", "2026-11-01T10:00:00Z");
const NEW = file("a/b.pt2", "2026-11-02T10:00:00Z");

test("two programs are compared, from the older file to the newer one", () => {
  expect(comparable([NEW, OLD])).toEqual(["a/z.pt2", "a/b.pt2"]);
  expect(comparable([OLD, NEW])).toEqual(["a/z.pt2", "a/b.pt2"]);
});

test("anything else is not compared", () => {
  const text = file("notes.md", OLD.last_modified);
  const folder = file("folder.pt2", OLD.last_modified, "directory");
  for (const selected of [[], [OLD], [OLD, NEW, OLD], [OLD, text], [folder, NEW]]) {
    expect(comparable(selected)).toBeNull();
  }
});
