import { expect, test } from "vitest";
import { NoLine, withShapes } from "./export_line";
import { changed, changesOf, diffLines } from "./text_changes";

const hunk = (first: number, count: number, ...lines: string[]) => ({ first, count, lines });

test("hunks of the kernel's lines change the lines of the editor", () => {
  const text = "\n  a\n  %time \\\n    f()\n  b\n  c";
  const changes = changesOf(text, [hunk(1, 1, "A", "", "AA"), hunk(3, 0, "new"), hunk(4, 1)]);
  expect(changed(text, changes)).toBe("\n  A\n\n  AA\n  %time \\\n    f()\n  new\n  b\n");
  expect(changed("a", changesOf("a", [hunk(2, 0, "b")]))).toBe("a\nb");
  expect(changed("a\n\n", changesOf("a\n\n", [hunk(2, 0, "b")]))).toBe("a\nb\n\n");
});

test("a diff shows what goes and what comes, with lines around", () => {
  const text = "1\n2\n3\n4\n5\n6";
  const changes = changesOf(text, [hunk(4, 1, "four", "and"), hunk(6, 0, "before six")]);
  const shown = diffLines(text, changes).map((line) => line.join(""));
  expect(shown).toEqual([" 2", " 3", "-4", "+four", "+and", " 5", "+before six", " 6"]);
});

const rewritten = (cell: string, shapes = "x: n[..16]", call = "f(x, y)"): string =>
  changed(cell, [withShapes(cell, call, shapes)]);

test("the line of %export gets other shapes", () => {
  expect(rewritten("%export f(x, y)")).toBe('%export -d "x: n[..16]" f(x, y)');
  expect(rewritten('a = 1\n%export --fix -d "x: n" --as ex f(x, y)  # why')).toBe(
    'a = 1\n%export --fix -d "x: n[..16]" --as ex f(x, y)  # why',
  );
  expect(rewritten("ex = %export --dynamic='x: n; y: m' f(x, y)")).toBe(
    'ex = %export -d "x: n[..16]" f(x, y)',
  );
  expect(rewritten("%export -D {'x':(n,)} ex = f(x,  y)")).toBe(
    '%export -d "x: n[..16]" ex = f(x,  y)',
  );
  expect(rewritten('%export \\\n  -d "x: n" \\\n  f(x, y)')).toBe(
    '%export \\\n  -d "x: n[..16]" \\\n  f(x, y)',
  );
  expect(rewritten('%%export -d "x: n"\ny = x\nf(x, y)')).toBe(
    '%%export -d "x: n[..16]"\ny = x\nf(x, y)',
  );
  expect(rewritten("%export f(x, y)", 'd["k"]: n')).toBe("%export -d 'd[\"k\"]: n' f(x, y)");
});

test("a line that cannot be told is not rewritten", () => {
  expect(() => rewritten("%export g(x)")).toThrow(NoLine);
  expect(() => rewritten("explorer.explore(f, (x, y))")).toThrow("no line");
  expect(() => rewritten("%export f(x, y)\n%export f(x, y)")).toThrow("more than once");
  expect(() => rewritten("%exports f(x, y)")).toThrow(NoLine);
  expect(() => rewritten("%export f(x, y)", `a'b"`)).toThrow("quoted");
});
