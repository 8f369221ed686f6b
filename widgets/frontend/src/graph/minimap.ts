/**
 * A thumbnail of the whole scene with the visible part marked; click or drag to go there. A scene
 * much taller than wide is stretched sideways: a model of 32 layers would otherwise be a thin line.
 */

import { type Camera, isOver, isWithin, type Rect, type Size } from "./camera";
import type { Decorations } from "./decorated";
import { type Palette, shareAccent } from "./palette";
import type { Scene, SceneBox } from "./scene";

/** The most it takes, and the most of a view it covers. */
export const MINIMAP: Size = { width: 116, height: 148 };
const SHARE: Size = { width: 0.2, height: 0.42 };
const NARROWEST = 40;
const LEAST_BOX = 0.7;
const DEEPEST = 4;

/** How a scene is shrunk to the minimap, and how large the minimap then is, in CSS pixels. */
export interface MinimapScale extends Size {
  x: number;
  y: number;
}

export function minimapScale(scene: Size, view: Size): MinimapScale {
  const width = Math.min(MINIMAP.width, view.width * SHARE.width);
  const height = Math.min(MINIMAP.height, view.height * SHARE.height);
  const even = Math.min(width / scene.width, height / scene.height);
  const x = Math.max(even, Math.min(NARROWEST, scene.width) / scene.width);
  const y = Math.max(even, Math.min(NARROWEST, scene.height) / scene.height);
  return { x, y, width: Math.round(scene.width * x), height: Math.round(scene.height * y) };
}

/** A narrower view has no room for it: it would lie over the boxes. */
const LEAST_VIEW = 520;

/** Whether some boxes are cut off by the view, and there is room to show it. */
export function needsMinimap(scene: Scene, seen: Rect, view: Size): boolean {
  if (view.width < LEAST_VIEW) return false;
  const isLarger = scene.width > seen.width * 1.02 || scene.height > seen.height * 1.02;
  return isLarger && scene.root.children.some((box) => !isWithin(box, seen));
}

/** Between a minimap and what it gives way to, in CSS pixels. */
const ROOM = 16;

/**
 * Which lower corner has more room for something that lies over the graph: the one without the
 * selection, else the one without boxes; null where both are the same.
 */
export function freerCorner(
  thing: Size,
  scene: Scene,
  selected: Rect | undefined,
  camera: Camera,
  view: Size,
): "left" | "right" | null {
  const [left, right] = cornersOf(thing, camera, view);
  const tests = [(corner: Rect) => selected !== undefined && isOver(selected, corner)];
  tests.push((corner: Rect) => isOverBoxes(corner, scene.root.children));
  for (const covers of tests) {
    const isCovering = covers(right);
    if (isCovering !== covers(left)) return isCovering ? "left" : "right";
  }
  return null;
}

/** Whether a minimap would lie over boxes in either corner. */
export function coversBoxes(map: Size, scene: Scene, camera: Camera, view: Size): boolean {
  return cornersOf(map, camera, view).every((corner) => isOverBoxes(corner, scene.root.children));
}

/** The parts of the scene at the lower left and the lower right, as large as a minimap. */
function cornersOf(map: Size, camera: Camera, view: Size): readonly [Rect, Rect] {
  const size = {
    width: (map.width + ROOM) / camera.zoom,
    height: (map.height + ROOM) / camera.zoom,
  };
  const y = camera.y + view.height / camera.zoom - size.height;
  const right = camera.x + view.width / camera.zoom - size.width;
  return [
    { ...size, x: camera.x, y },
    { ...size, x: right, y },
  ];
}

/** Whether a part of the scene has boxes of ops or of closed modules. */
function isOverBoxes(part: Rect, boxes: readonly SceneBox[]): boolean {
  return boxes.some((box) => isOver(box, part) && (!box.open || isOverBoxes(part, box.children)));
}

/** The content of a minimap, apart from the part in view. */
export interface MinimapPicture {
  scene: Scene;
  scale: MinimapScale;
  palette: Palette;
  decorations: Decorations;
  /** Device pixels per CSS pixel. */
  ratio: number;
}

/** A minimap that draws its boxes once, whatever is in view: there may be very many. */
export class Minimap {
  private drawn: MinimapPicture | null = null;
  private readonly bitmap = document.createElement("canvas");

  constructor(private readonly context: CanvasRenderingContext2D) {}

  /** Paints onto a canvas of the scale's size. */
  paint(picture: MinimapPicture, seen: Rect): void {
    const { context, bitmap } = this;
    const { scale, ratio, palette, scene } = picture;
    if (!isSame(this.drawn, picture)) this.draw(picture);
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.clearRect(0, 0, bitmap.width, bitmap.height);
    if (bitmap.width > 0 && bitmap.height > 0) context.drawImage(bitmap, 0, 0);
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    const [x, y, width, height] = rectOf(clipped(seen, scene), scale);
    context.strokeStyle = palette.select;
    context.lineWidth = 1.5;
    context.strokeRect(x + 0.75, y + 0.75, Math.max(width - 1.5, 3), Math.max(height - 1.5, 3));
  }

  private draw(picture: MinimapPicture): void {
    const { scale, ratio } = picture;
    this.bitmap.width = Math.round(scale.width * ratio);
    this.bitmap.height = Math.round(scale.height * ratio);
    const context = this.bitmap.getContext("2d");
    if (!context) return;
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    drawBoxes(context, picture);
    this.drawn = picture;
  }
}

function isSame(a: MinimapPicture | null, b: MinimapPicture): boolean {
  return (
    a !== null &&
    a.scene === b.scene &&
    a.palette === b.palette &&
    a.decorations === b.decorations &&
    a.ratio === b.ratio &&
    a.scale.width === b.scale.width &&
    a.scale.height === b.scale.height
  );
}

function rectOf(box: Rect, scale: MinimapScale): [number, number, number, number] {
  return [
    box.x * scale.x,
    box.y * scale.y,
    Math.max(box.width * scale.x, LEAST_BOX),
    Math.max(box.height * scale.y, LEAST_BOX),
  ];
}

function drawBoxes(
  context: CanvasRenderingContext2D,
  { scene, scale, palette, decorations }: MinimapPicture,
): void {
  const most = decorations.scale && palette.plainOf(decorations.scale);
  const draw = (box: SceneBox): void => {
    const small = box.width * scale.x < LEAST_BOX || box.height * scale.y < LEAST_BOX;
    if (small && box.depth > 1) return;
    const drawn = decorations.boxes.get(box.item);
    const marked = drawn?.colour || drawn?.rim || (!most && drawn?.badges[0]?.colour);
    const ground = box.depth % 2 === 0 ? palette.scopeEven : palette.scopeOdd;
    const own = decorations.coloured ? palette.neutral : palette.accents.get(box.item.accent);
    const plain = most
      ? shareAccent(palette, most, Math.max(drawn?.share ?? 0, 0)).patch
      : (own ?? palette.neutral).plain;
    context.fillStyle = box.open ? ground : marked ? palette.plainOf(marked) : plain;
    context.globalAlpha = box.open || marked || most ? 1 : 0.6;
    context.fillRect(...rectOf(box, scale));
    if (box.open && box.depth < DEEPEST) box.children.forEach(draw);
  };
  scene.root.children.forEach(draw);
}

function clipped(seen: Rect, scene: Size): Rect {
  const x = Math.min(Math.max(seen.x, 0), scene.width);
  const y = Math.min(Math.max(seen.y, 0), scene.height);
  const right = Math.min(seen.x + seen.width, scene.width);
  const bottom = Math.min(seen.y + seen.height, scene.height);
  return { x, y, width: Math.max(right - x, 0), height: Math.max(bottom - y, 0) };
}
