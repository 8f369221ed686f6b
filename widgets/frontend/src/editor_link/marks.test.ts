import { expect, test } from "vitest";
import { rangeOf } from "../lab/marking";
import { Program } from "../program";
import { failureOf, fixCard, RecordBuilder } from "../testing/records";
import { type Mark, marksOf } from "./marks";

function failing(origin: "cell" | "torch"): Program {
  const builder = new RecordBuilder();
  const file = builder.file("Cell In[2]", origin);
  const stack = builder.stack([[file, 3, "forward"]]);
  const fixes = [fixCard({ kind: "mode" }), fixCard({ kind: "code", title: "Rewrite it" })];
  const failure = failureOf({
    kind: "A branch",
    sentence: "This fails.",
    stack,
    span: [3, 5, 3, 9],
    fixes,
  });
  return new Program({ ...builder.record(), failure });
}

test("a failure stands on its line, with its first fix that is an edit", () => {
  expect(marksOf(failing("cell"))).toEqual([
    {
      file: 0,
      line: 3,
      columns: [5, 9],
      severity: "error",
      title: "A branch",
      sentence: "This fails.",
      fix: { title: "Rewrite it", number: 1 },
    },
  ]);
});

test("a line of torch's has no squiggle", () => {
  expect(marksOf(failing("torch"))).toEqual([]);
});

test("a mark is in the editor where its line is, and on a whole line without its indentation", () => {
  const at = (line: number, columns: Mark["columns"]) =>
    rangeOf("\n  if a:\n      bcd\n\n  ", { line, columns } as Mark);
  expect(at(1, [3, 4])).toEqual({ from: 6, to: 7 });
  expect(at(2, null)).toEqual({ from: 15, to: 18 });
  expect(at(2, [4, Number.POSITIVE_INFINITY])).toEqual({ from: 15, to: 18 });
  expect(at(3, null)).toBeNull();
  expect(at(9, null)).toBeNull();
});
