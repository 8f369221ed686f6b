import { expect, test } from "vitest";
import { linesAround } from "./expression_lines";

const SOURCE = `class Model(nn.Module):
    def forward(self, x):
        x = torch.cat([
            self.a(x),
            x,  # a comment with ) and (
            "a string with ]",
        ], dim=1)
        y = x + \\
            1
        text = """one (
        two"""
        return (
            x
            + f(
                y
            )
        )

    def other(self):
        pass
`;

test.each([
  [1, []],
  [3, []],
  [4, [3]],
  [5, [3]],
  [6, [3]],
  [7, [3]],
  [8, []],
  [9, [8]],
  [11, [10]],
  [12, []],
  [13, [12]],
  [15, [14, 12]],
  [16, [14, 12]],
  [17, [12]],
  [18, []],
  [19, []],
])("the expression around line %i begins at %j", (line, lines) => {
  expect(linesAround(SOURCE, line)).toEqual(lines);
});

test("what is not finished, or is not Python, has lines too", () => {
  expect(linesAround("f(\n  'open\n  x\n", 3)).toEqual([1]);
  expect(linesAround("a)\n]\nb", 3)).toEqual([]);
  expect(linesAround("x = f(\r\n  1,\r\n  2)\r\n", 3)).toEqual([1]);
  expect(linesAround("", 5)).toEqual([1]);
});
