/**
 * Names for a zoomed-out scene, where headers can no longer be read: each on a plate of a fixed
 * screen size, outermost boxes first, none overlapping. Pure except for the canvas.
 */

import type { Camera, Rect, Size } from "./camera";
import type { Palette } from "./palette";
import { FONT, HEADER, type Measure, type Scene, type SceneBox } from "./scene";

export interface Plate extends Rect {
  text: string;
}

const HEIGHT = 17;
const PAD = 5;
const GAP = 2;
const LEAST_WIDTH = 46;
const LEAST_HEIGHT = 24;
/** A closed scope may be lower than its plate, but no lower than this. */
const LEAST_CLOSED = 10;
const DEEPEST = 6;
/** On the screen, a header of at least this height names its box itself. */
export const LEAST_HEADER = 16;

/** The plates of a view, in CSS pixels of the view. */
export function platesOf(scene: Scene, camera: Camera, view: Size, measure: Measure): Plate[] {
  if (HEADER * camera.zoom >= LEAST_HEADER) return [];
  const plates: Plate[] = [];
  let level = scene.root.children;
  for (let depth = 0; depth < DEEPEST && level.length > 0; depth++) {
    for (const box of level) {
      const plate = plateOf(box, camera, view, measure, plates);
      if (plate) plates.push(plate);
    }
    level = level.flatMap((box) => (isLarge(box, camera) ? box.children : []));
  }
  return plates;
}

function isLarge(box: SceneBox, { zoom }: Camera): boolean {
  const least = box.open ? LEAST_HEIGHT : LEAST_CLOSED;
  return box.width * zoom >= LEAST_WIDTH && box.height * zoom >= least;
}

/** A place at the top left of a box's visible part, below other plates; null if there is no room. */
function plateOf(
  box: SceneBox,
  camera: Camera,
  view: Size,
  measure: Measure,
  others: readonly Plate[],
): Plate | null {
  if (!isLarge(box, camera) || (!box.open && box.item.children.length === 0)) return null;
  const { zoom } = camera;
  const left = Math.max((box.x - camera.x) * zoom, 0) + 3;
  const top = Math.max((box.y - camera.y) * zoom, 0) + 3;
  const right = Math.min((box.x + box.width - camera.x) * zoom, view.width);
  const bottom = Math.min((box.y + box.height - camera.y) * zoom, view.height);
  const width = measure(box.item.title, FONT.text) + 2 * PAD;
  const plate = { text: box.item.title, x: left, y: top, width, height: HEIGHT };
  if (!box.open) {
    plate.x = (left + right - width) / 2;
    plate.y = (top + bottom - HEIGHT) / 2;
    return others.some((other) => overlap(plate, other)) ? null : plate;
  }
  for (const other of others) if (overlap(plate, other)) plate.y = other.y + HEIGHT + GAP;
  const fits = left + width <= right && plate.y + HEIGHT <= bottom;
  return fits && !others.some((other) => overlap(plate, other)) ? plate : null;
}

function overlap(a: Rect, b: Rect): boolean {
  return (
    a.x < b.x + b.width + GAP &&
    b.x < a.x + a.width + GAP &&
    a.y < b.y + b.height + GAP &&
    b.y < a.y + a.height + GAP
  );
}

/** Draws plates on a canvas whose transform is that of the view's CSS pixels. */
export function paintPlates(
  context: CanvasRenderingContext2D,
  plates: readonly Plate[],
  palette: Palette,
): void {
  context.font = FONT.text;
  context.textBaseline = "middle";
  for (const { x, y, width, height, text } of plates) {
    context.globalAlpha = 0.86;
    context.fillStyle = palette.background;
    context.beginPath();
    context.roundRect(x, y, width, height, 4);
    context.fill();
    context.globalAlpha = 1;
    context.fillStyle = palette.text;
    context.fillText(text, x + PAD, y + height / 2 + 0.5);
  }
}

/** Draws the frame around what is to be selected, on a canvas of the same transform. */
export function paintMarquee(
  context: CanvasRenderingContext2D,
  { x, y, width, height }: Rect,
  palette: Palette,
): void {
  context.globalAlpha = 0.12;
  context.fillStyle = palette.select;
  context.fillRect(x, y, width, height);
  context.globalAlpha = 1;
  context.strokeStyle = palette.select;
  context.lineWidth = 1;
  context.setLineDash([4, 3]);
  context.strokeRect(x, y, width, height);
  context.setLineDash([]);
}
