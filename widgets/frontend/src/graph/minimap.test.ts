import { expect, test } from "vitest";
import { isInTheWay } from "./minimap";

const MAP = { width: 100, height: 140 };
const VIEW = { width: 600, height: 400 };
const at = (x: number, y: number, width = 120) => ({ x, y, width, height: 40 });

test.each([
  ["in the lower right corner", at(460, 350), true],
  ["at its upper left", at(400, 240), true],
  ["above it", at(460, 100), false],
  ["beside it", at(200, 350), false],
  ["out of view", at(700, 350), false],
  ["so wide that it would be covered at the left too", at(20, 350, 560), false],
])("the minimap gives way to a box %s: %s", (_, box, expected) => {
  expect(isInTheWay(MAP, box, VIEW)).toBe(expected);
});
