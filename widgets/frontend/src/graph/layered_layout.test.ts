import { expect, test } from "vitest";
import { layered } from "./layered_layout";
import type { LayoutLink } from "./layout_types";

const sized = (count: number): [number, number][] =>
  Array.from({ length: count }, (_, at) => [60 + 8 * (at % 5), 24 + 15 * (at % 3)]);

/** As a program: each box reads some that ran before it. */
function linksOf(count: number, each: number): LayoutLink[] {
  const links: LayoutLink[] = [];
  for (let to = 1; to < count; to++) {
    for (let at = 0; at < each; at++) links.push([(to * 31 + at * 17) % to, to, 0]);
  }
  return links;
}

test.each([
  ["a chain", 50, Array.from({ length: 49 }, (_, at): LayoutLink => [at, at + 1, 0])],
  ["boxes without links", 200, [] as LayoutLink[]],
  ["a tangle", 300, linksOf(300, 3)],
  [
    "what leads back",
    3,
    [
      [0, 1, 0],
      [1, 2, 0],
      [2, 0, 0],
      [1, 1, 0],
    ] as LayoutLink[],
  ],
])(
  "%s: no boxes overlap, all are in the frame, links go from one to the other",
  (_, count, links) => {
    const sizes = sized(count);
    const { width, height, boxes, links: drawn } = layered(sizes, links, []);
    const rects = boxes.map(([x, y], at) => {
      const [w, h] = sizes[at] as [number, number];
      return { left: x - w / 2, top: y - h / 2, right: x + w / 2, bottom: y + h / 2 };
    });
    for (const [at, one] of rects.entries()) {
      expect(one.left).toBeGreaterThanOrEqual(-0.01);
      expect(one.top).toBeGreaterThanOrEqual(-0.01);
      expect(one.right).toBeLessThanOrEqual(width + 0.01);
      expect(one.bottom).toBeLessThanOrEqual(height + 0.01);
      const over = rects
        .slice(at + 1)
        .some(
          (other) =>
            one.left < other.right &&
            other.left < one.right &&
            one.top < other.bottom &&
            other.top < one.bottom,
        );
      expect(over).toBe(false);
    }
    expect(drawn).toHaveLength(links.length);
    for (const { points } of drawn) expect(points.every(Number.isFinite)).toBe(true);
  },
);

test("what reads a box is below it, and what comes first is above all", () => {
  const { boxes } = layered(
    sized(4),
    [
      [0, 1, 0],
      [1, 2, 0],
    ] as LayoutLink[],
    [0, 3],
  );
  expect(boxes[3]?.[1]).toBeLessThan(boxes[1]?.[1] ?? 0);
  expect(boxes[1]?.[1]).toBeLessThan(boxes[2]?.[1] ?? 0);
});

test("ten thousand boxes take a moment", () => {
  const began = performance.now();
  layered(sized(10_000), linksOf(10_000, 2), []);
  expect(performance.now() - began).toBeLessThan(2000);
});
