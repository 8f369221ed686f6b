import { describe, expect, test } from "vitest";
import {
  afterOpening,
  countBeyond,
  firstView,
  isLegible,
  LEGIBLE,
  type Rect,
  reveal,
  type Size,
  showAll,
  shows,
  TEACHING,
  visible,
  zoomAt,
} from "./camera";

const VIEW = { width: 600, height: 400 };
const small = { x: 0, y: 0, width: 300, height: 200 };
const tall = { width: 500, height: 9000 };

describe("the first view", () => {
  test("is everything, at most life-size, where it can be read", () => {
    expect(firstView({ width: 300, height: 200 }, [], 150, VIEW)).toEqual({
      x: -150,
      y: -88,
      zoom: 1,
    });
  });

  test("leaves the legend's line free below a scene, where it can be read above it", () => {
    const below = (height: number): number => {
      const camera = firstView({ width: 300, height }, [], 150, VIEW);
      const seen = visible(camera, VIEW);
      return (seen.y + seen.height - height) * camera.zoom;
    };
    expect(below(400)).toBeCloseTo(40);
    expect(below(500), "as high as can be read in all of the view").toBeCloseTo(16);
  });

  test("of a long scene starts at its top, legible", () => {
    const camera = firstView(tall, [], 250, VIEW);
    expect(camera.zoom).toBeGreaterThanOrEqual(LEGIBLE);
    expect(camera.zoom).toBeLessThan(1);
    expect(camera.y).toBeLessThanOrEqual(0);
    expect(visible(camera, VIEW).height).toBeLessThan(tall.height);
  });

  test("for a room is larger, and a part where all of it could not be read", () => {
    const zoomOf = (scene: Size) => firstView(scene, [], 150, VIEW, TEACHING).zoom;
    expect(zoomOf({ width: 300, height: 200 })).toBe(TEACHING.most);
    expect(zoomOf({ width: 560, height: 450 })).toBeGreaterThanOrEqual(TEACHING.least);
    expect(zoomOf({ width: 5000, height: 9000 })).toBe(TEACHING.comfortable);
  });

  test("of a wide scene is about its inputs, but not beside the scene", () => {
    const wide = { width: 5000, height: 900 };
    const seen = (middle: number) => visible(firstView(wide, [], middle, VIEW), VIEW);
    expect(seen(2500).x + seen(2500).width / 2).toBeCloseTo(2500);
    expect(seen(10).x).toBeGreaterThan(-30);
    expect(seen(4990).x + seen(4990).width).toBeLessThan(5030);
  });
});

test("a scene is legible where all of it can be shown large enough", () => {
  const scene = (width: number): Size => ({ width, height: 50 });
  expect(isLegible(scene(VIEW.width), VIEW)).toBe(true);
  expect(isLegible(scene(VIEW.width * 1.4), VIEW)).toBe(true);
  expect(isLegible(scene(VIEW.width * 1.6), VIEW)).toBe(false);
  expect(isLegible({ width: 50, height: VIEW.height * 1.6 }, VIEW)).toBe(false);
  expect(isLegible(scene(VIEW.width), VIEW, TEACHING)).toBe(false);
  expect(isLegible(scene(5000), { width: 0, height: 0 }), "of a view not yet shown").toBe(true);
});

describe("the first view of a scene that is too large", () => {
  const row = (count: number) =>
    Array.from({ length: count }, (_, at) => ({ x: 140 * at, y: 60, width: 120, height: 40 }));
  const column = (count: number) =>
    Array.from({ length: count }, (_, at) => ({ x: 0, y: 83 * at, width: 120, height: 60 }));
  const isCut = (box: Rect, seen: Rect): boolean =>
    box.y < seen.y + seen.height &&
    (box.y + box.height > seen.y + seen.height ||
      (box.x < seen.x && box.x + box.width > seen.x) ||
      (box.x < seen.x + seen.width && box.x + box.width > seen.x + seen.width));

  test.each([
    ["high", column(20), { width: 120, height: 1640 }],
    ["wide", row(20), { width: 2780, height: 160 }],
  ])("cuts no box of a %s one, and counts those outside", (_, boxes, scene) => {
    for (let height = 300; height < 500; height += 7) {
      const view = { width: height + 211, height };
      const camera = firstView(scene, boxes, scene.width / 2, view);
      const seen = visible(camera, { ...view, height: height - 26 });
      expect(boxes.filter((box) => isCut(box, seen))).toEqual([]);
      const beyond = Object.values(countBeyond(boxes, seen)).reduce((sum, each) => sum + each);
      const inside = boxes.filter((box) => shows(camera, box, { ...view, height: height - 26 }));
      expect(beyond + inside.length).toBe(boxes.length);
      expect(camera.zoom).toBeGreaterThanOrEqual(LEGIBLE);
    }
  });
});

describe("zooming", () => {
  test("keeps the point under the pointer", () => {
    const before = { x: 10, y: 20, zoom: 1 };
    const after = zoomAt(before, 2, 100, 50);
    expect([after.x + 100 / after.zoom, after.y + 50 / after.zoom]).toEqual([110, 70]);
  });

  test("has an end on both sides", () => {
    const camera = { x: 0, y: 0, zoom: 1 };
    expect(zoomAt(camera, 1e9, 0, 0).zoom).toBeLessThan(10);
    expect(zoomAt(camera, 1e-9, 0, 0).zoom).toBeGreaterThan(0);
  });

  test("to all shows a scene of 32 layers whole", () => {
    const scene = { x: 0, y: 0, width: 1200, height: 60_000 };
    const seen = visible(showAll(scene, VIEW), VIEW);
    expect(seen.height).toBeGreaterThanOrEqual(60_000);
  });
});

describe("bringing a box into view", () => {
  test("moves nothing where it is well in view", () => {
    const camera = { x: -120, y: -98, zoom: 1 };
    expect(reveal(camera, small, VIEW)).toEqual(camera);
  });

  test("moves as little as it takes to see it among its neighbours", () => {
    const camera = { x: 0, y: 1000, zoom: 1 };
    const after = reveal(camera, { x: 100, y: 100, width: 50, height: 50 }, VIEW);
    expect(after).toEqual({ x: 0, y: 4, zoom: 1 });
  });

  test("zooms in where it could not be read", () => {
    expect(reveal({ x: 0, y: 0, zoom: 0.1 }, small, VIEW).zoom).toBeGreaterThanOrEqual(LEGIBLE);
  });
});

describe("after a box has opened", () => {
  test("all of it is in view where it fits", () => {
    const seen = visible(afterOpening({ x: 200, y: 150, zoom: 1 }, small, VIEW), VIEW);
    expect(seen.x).toBeLessThanOrEqual(0);
    expect(seen.y).toBeLessThanOrEqual(0);
    expect(seen.x + seen.width).toBeGreaterThanOrEqual(300);
  });

  test("its top left is in view where it does not fit", () => {
    const large = { x: 1000, y: 700, width: 3000, height: 9000 };
    const seen = visible(afterOpening({ x: 900, y: 300, zoom: 1 }, large, VIEW), VIEW);
    expect(seen.x).toBeCloseTo(1000 - 16);
    expect(large.y - seen.y).toBeLessThanOrEqual(VIEW.height / 4);
    expect(large.y).toBeGreaterThan(seen.y);
  });
});
