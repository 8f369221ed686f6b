import { expect, test } from "vitest";
import type { Rect } from "./camera";
import { coversBoxes, freerCorner, needsMinimap } from "./minimap";
import type { Scene, SceneBox } from "./scene";

const MAP = { width: 100, height: 140 };
const VIEW = { width: 600, height: 400 };
const CAMERA = { x: 0, y: 0, zoom: 1 };
const at = (x: number, y: number, width = 120): Rect => ({ x, y, width, height: 40 });

function sceneOf(boxes: readonly Rect[], width = 600, height = 400): Scene {
  const children = boxes.map((box) => ({ ...box, open: false, children: [] }));
  return { root: { children: children as unknown as SceneBox[] }, width, height } as Scene;
}

function open(box: Rect, children: readonly Rect[]): Scene {
  const scene = sceneOf([box]);
  Object.assign(scene.root.children[0] as SceneBox, {
    open: true,
    children: sceneOf(children).root.children,
  });
  return scene;
}

const PLACES: [where: string, box: Rect, aside: boolean][] = [
  ["in the lower right corner", at(460, 350), true],
  ["at its upper left", at(400, 250), true],
  ["above it", at(460, 100), false],
  ["beside it", at(200, 350), false],
  ["out of view", at(700, 350), false],
  ["so wide that it would be covered at the left too", at(20, 350, 560), false],
];

test.each(PLACES)("the minimap gives way to a selected box %s: %s", (_, box, expected) => {
  const full = sceneOf([at(0, 350, 600)]);
  expect(freerCorner(MAP, full, box, CAMERA, VIEW) === "left").toBe(expected);
});

test.each(PLACES)("and to any box %s: %s", (_, box, expected) => {
  expect(freerCorner(MAP, sceneOf([box]), undefined, CAMERA, VIEW) === "left").toBe(expected);
  const zoomed = { x: 100, y: 50, zoom: 2 };
  const there = {
    x: 100 + box.x / 2,
    y: 50 + box.y / 2,
    width: box.width / 2,
    height: box.height / 2,
  };
  expect(freerCorner(MAP, sceneOf([there]), undefined, zoomed, VIEW) === "left").toBe(expected);
});

test("it stays where it is unless there is more room at the other side", () => {
  for (const boxes of [[], [at(10, 350), at(460, 350)]]) {
    expect(freerCorner(MAP, sceneOf(boxes), undefined, CAMERA, VIEW)).toBe(null);
  }
  expect(freerCorner(MAP, sceneOf([at(10, 350)]), undefined, CAMERA, VIEW)).toBe("right");
});

test("of an open module, only what is in it is in the way", () => {
  const module = { x: 0, y: 0, width: 600, height: 400 };
  const aside = (inside: Rect): boolean =>
    freerCorner(MAP, open(module, [inside]), undefined, CAMERA, VIEW) === "left";
  expect(aside(at(460, 350))).toBe(true);
  expect(aside(at(200, 350))).toBe(false);
});

test("it is there only where a box is not seen whole", () => {
  const seen = { x: -10, y: -10, width: 500, height: 380 };
  const inView = [at(20, 20), at(340, 320)];
  expect(needsMinimap(sceneOf(inView), seen, VIEW)).toBe(false); // only the scene's edge is cut
  expect(needsMinimap(sceneOf([...inView, at(340, 360)]), seen, VIEW)).toBe(true);
  expect(needsMinimap(sceneOf([at(340, 360)], 480, 380), seen, VIEW)).toBe(false);
  const narrow = { width: 480, height: 400 };
  expect(needsMinimap(sceneOf([at(340, 360)]), seen, narrow)).toBe(false);
});

test("a fitted view has none that would cover boxes in both corners", () => {
  const covers = (...boxes: Rect[]): boolean => coversBoxes(MAP, sceneOf(boxes), CAMERA, VIEW);
  expect(covers(at(20, 350), at(460, 350))).toBe(true);
  expect(covers(at(20, 350))).toBe(false);
  expect(covers(at(460, 350))).toBe(false);
});
