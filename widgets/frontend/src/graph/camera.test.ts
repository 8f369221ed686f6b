import { describe, expect, test } from "vitest";
import {
  afterOpening,
  firstView,
  isTooWide,
  LEGIBLE,
  reveal,
  type Size,
  showAll,
  TEACHING,
  visible,
  wholeAtLeft,
  zoomAt,
} from "./camera";

const VIEW = { width: 600, height: 400 };
const small = { x: 0, y: 0, width: 300, height: 200 };
const tall = { width: 500, height: 9000 };

describe("the first view", () => {
  test("is everything, at most life-size, where it can be read", () => {
    expect(firstView({ width: 300, height: 200 }, 150, VIEW)).toEqual({
      x: -150,
      y: -88,
      zoom: 1,
    });
  });

  test("leaves the legend's line free below a scene, where it can be read above it", () => {
    const below = (height: number): number => {
      const camera = firstView({ width: 300, height }, 150, VIEW);
      const seen = visible(camera, VIEW);
      return (seen.y + seen.height - height) * camera.zoom;
    };
    expect(below(400)).toBeCloseTo(40);
    expect(below(500), "as high as can be read in all of the view").toBeCloseTo(16);
  });

  test("of a long scene starts at its top, legible", () => {
    const camera = firstView(tall, 250, VIEW);
    expect(camera.zoom).toBeGreaterThanOrEqual(LEGIBLE);
    expect(camera.zoom).toBeLessThan(1);
    expect(camera.y).toBeLessThanOrEqual(0);
    expect(visible(camera, VIEW).height).toBeLessThan(tall.height);
  });

  test("for a room is larger, and a part where all of it could not be read", () => {
    const zoomOf = (scene: Size) => firstView(scene, 150, VIEW, TEACHING).zoom;
    expect(zoomOf({ width: 300, height: 200 })).toBe(TEACHING.most);
    expect(zoomOf({ width: 560, height: 450 })).toBeGreaterThanOrEqual(TEACHING.least);
    expect(zoomOf({ width: 5000, height: 9000 })).toBe(TEACHING.comfortable);
  });

  test("of a wide scene is about its inputs, but not beside the scene", () => {
    const wide = { width: 5000, height: 900 };
    const seen = (middle: number) => visible(firstView(wide, middle, VIEW), VIEW);
    expect(seen(2500).x + seen(2500).width / 2).toBeCloseTo(2500);
    expect(seen(10).x).toBeGreaterThan(-30);
    expect(seen(4990).x + seen(4990).width).toBeLessThan(5030);
  });
});

test("a scene is too wide where more than a fifth of its width is hidden, legible", () => {
  const scene = (width: number): Size => ({ width, height: 50 });
  expect(isTooWide(scene(VIEW.width), VIEW)).toBe(false);
  expect(isTooWide(scene(VIEW.width * 1.5), VIEW)).toBe(false);
  expect(isTooWide(scene(VIEW.width * 1.8), VIEW)).toBe(true);
  expect(isTooWide(scene(VIEW.width * 1.3), VIEW, TEACHING)).toBe(true);
  expect(isTooWide(scene(5000), { width: 0, height: 0 }), "of a view not yet shown").toBe(false);
});

describe("a view's left edge", () => {
  const at = (x: number, width: number, y = 0) => ({ x, y, width, height: 40 });

  test("cuts no narrow box in two", () => {
    const camera = { x: 100, y: 0, zoom: 0.5 };
    const boxes = [at(-60, 120), at(40, 120), at(200, 120)];
    expect(wholeAtLeft(camera, boxes, VIEW)).toEqual({ x: 8, y: 0, zoom: 0.5 });
  });

  test("stays where a wide box, one further down or none is cut", () => {
    const camera = { x: 100, y: 0, zoom: 1 };
    expect(wholeAtLeft(camera, [at(0, 900), at(60, 80, 500), at(100, 80)], VIEW)).toBe(camera);
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
