/**
 * Which part of the scene is on the canvas. Pure. `x` and `y` are the scene point at the top left.
 */

export interface Camera {
  x: number;
  y: number;
  zoom: number;
}

export interface Size {
  width: number;
  height: number;
}

export interface Rect extends Size {
  x: number;
  y: number;
}

const LEAST_ZOOM = 0.002;
const MOST_ZOOM = 4;
/** The zoom of a part of a graph that is comfortable to read. */
export const LEGIBLE = 0.72;
/** Boxes have room for texts that are enlarged to `LEAST_FONT` at this zoom; below, they are cut. */
export const UNCUT = 0.62;
/** How large a graph is to be shown at first. */
export interface Legibility {
  /** All of it is shown, if that takes no smaller zoom. */
  whole: number;
  /** For a part of it: the least zoom, and the one to begin with. */
  least: number;
  comfortable: number;
  most: number;
}
/** For one reader, and for a room. */
export const READING: Legibility = { whole: 0.66, least: LEGIBLE, comfortable: 0.8, most: 1 };
export const TEACHING: Legibility = { whole: 1, least: 1, comfortable: 1.1, most: 1.5 };
const MARGIN = 16;
/** Space below the scene for the legend's line, if there is room. */
const SHELF = 40;
/** At an edge of a view that is too small: what says that there is more outside. */
const HINT = 26;
/** How far a badge goes on to the right of its box, in the scene. */
const BADGE = 4;
/** For a scene that is too large: the zooms to try, and the number of boxes whose left edges to try. */
const ZOOM_STEP = 0.02;
const MOST_TRIED = 400;
/** Space kept around what is brought into view, so that its neighbours are visible. */
const NEIGHBOURHOOD = 96;

/**
 * Fits a rectangle into the view, at zoom 1 or less unless `most` is more: above the legend, unless
 * what is legible in all of the view would not be in that.
 */
export function showAll(rect: Rect, view: Size, most = 1): Camera {
  const above = fitted(rect, { ...view, height: view.height - SHELF + MARGIN }, most);
  return above.zoom < LEGIBLE ? fitted(rect, view, most) : above;
}

function fitted(rect: Rect, view: Size, most: number): Camera {
  const wide = (view.width - 2 * MARGIN) / Math.max(rect.width, 1);
  const high = (view.height - 2 * MARGIN) / Math.max(rect.height, 1);
  const zoom = clamp(Math.min(wide, high, most), LEAST_ZOOM, MOST_ZOOM);
  return centred(rect.x + rect.width / 2, rect.y + rect.height / 2, zoom, view);
}

/** Whether all of a scene is legible in a view; true of a view that is not shown yet. */
export function isLegible(scene: Size, view: Size, { most, whole }: Legibility = READING): boolean {
  return view.width === 0 || showAll({ x: 0, y: 0, ...scene }, view, most).zoom >= whole;
}

/**
 * The initial view: everything if that is legible. Otherwise the top at a legible zoom, around
 * `middle` (the inputs), with no more empty space at a side than the margin, so that the edges of
 * the view cut as few of the boxes as they can.
 */
export function firstView(
  scene: Size,
  boxes: readonly Rect[],
  middle: number,
  view: Size,
  legibility: Legibility = READING,
): Camera {
  const { comfortable, least, most, whole } = legibility;
  const all = showAll({ x: 0, y: 0, ...scene }, view, most);
  if (all.zoom >= whole) return all;
  const wide = (view.width - 2 * MARGIN) / Math.max(scene.width, 1);
  // Too high for the view, it is shown smaller than life-size, so that more of it is seen.
  const largest = wide >= least ? Math.min(wide, comfortable) : comfortable;
  let best: { camera: Camera; cuts: number } | null = null;
  const upper = boxes.filter(({ y }) => y < view.height / Math.min(least, largest)); // the rest is below
  const zooms = [largest];
  for (let zoom = largest - ZOOM_STEP; zoom >= least; zoom -= ZOOM_STEP) zooms.push(zoom);
  const end = wide >= least ? Math.min(wide, most) : most;
  for (let zoom = largest + ZOOM_STEP; zoom <= end; zoom += ZOOM_STEP) zooms.push(zoom);
  for (const zoom of zooms) {
    const isWide = (scene.width + (2 * MARGIN) / zoom) * zoom > view.width;
    const spare = view.height - scene.height * zoom;
    const above = Math.max(isWide ? HINT : MARGIN, spare / 2); // a flat scene is in the middle
    for (const x of leftEdges(scene, boxes, middle, view, zoom)) {
      const camera = { x, y: -above / zoom, zoom };
      const seen = visible(camera, { ...view, height: view.height - HINT });
      const cuts = countCut(upper, seen);
      if (!best || cuts < best.cuts) best = { camera, cuts };
    }
  }
  return best?.camera ?? all;
}

/** The left edge with `middle` in the middle, then those nearby that are left of a box. */
function leftEdges(
  scene: Size,
  boxes: readonly Rect[],
  middle: number,
  view: Size,
  zoom: number,
): number[] {
  const margin = MARGIN / zoom;
  const seen = view.width / zoom;
  const clamped = (left: number): number => sideways(left, -margin, scene.width + margin, seen);
  const wanted = clamped(middle - seen / 2);
  if (scene.width + 2 * margin <= seen || boxes.length > MOST_TRIED) return [wanted];
  const away = (left: number): number => Math.abs(left - wanted);
  const lefts = boxes.flatMap(({ x }) => [clamped(x - margin / 2), clamped(x - margin / 4)]);
  const near = [...new Set(lefts)].filter((left) => away(left) < seen / 4);
  return [wanted, ...near.sort((a, b) => away(a) - away(b))];
}

/** How many boxes an edge of what is seen goes through; a badge beside a box counts far less. */
function countCut(boxes: readonly Rect[], seen: Rect): number {
  let count = 0;
  for (const box of boxes) {
    if (!isOver(box, seen)) continue;
    if (!isWithin(box, seen)) count += 1;
    else if (box.x + box.width + BADGE > seen.x + seen.width) count += 1 / (boxes.length + 1);
  }
  return count;
}

/** How many boxes are not wholly in view, by where they go on. */
export interface Beyond {
  above: number;
  below: number;
  left: number;
  right: number;
}

/** Counts the boxes that are not wholly in what is seen; each once, where most of it lies. */
export function countBeyond(boxes: readonly Rect[], seen: Rect): Beyond {
  const count: Beyond = { above: 0, below: 0, left: 0, right: 0 };
  for (const { height, width, x, y } of boxes) {
    const above = seen.y - y;
    const below = y + height - seen.y - seen.height;
    const left = seen.x - x;
    const right = x + width - seen.x - seen.width;
    const most = Math.max(above, below, left, right);
    if (most <= 0) continue;
    if (most === above) count.above += 1;
    else if (most === below) count.below += 1;
    else if (most === left) count.left += 1;
    else count.right += 1;
  }
  return count;
}

/** Whether two rectangles have a part in common. */
export function isOver(a: Rect, b: Rect): boolean {
  const isBeside = a.x >= b.x + b.width || b.x >= a.x + a.width;
  return !isBeside && a.y < b.y + b.height && b.y < a.y + a.height;
}

/** Whether all of a rectangle is in what is seen. */
export function isWithin(box: Rect, seen: Rect): boolean {
  const isWide = box.x >= seen.x && box.x + box.width <= seen.x + seen.width;
  return isWide && box.y >= seen.y && box.y + box.height <= seen.y + seen.height;
}

/** After `rect` has opened: all of it if it fits, else its top left; `y` stays if it can. */
export function afterOpening(camera: Camera, rect: Rect, view: Size): Camera {
  const { zoom } = camera;
  const seen = { width: view.width / zoom, height: view.height / zoom };
  const margin = MARGIN / zoom;
  const x = within(camera.x, rect.x - margin, rect.x + rect.width + margin - seen.width);
  const fits = rect.height + 2 * margin <= seen.height;
  const least = fits ? rect.y + rect.height + margin - seen.height : rect.y - seen.height / 4;
  return {
    x: rect.width + 2 * margin <= seen.width ? x : rect.x - margin,
    y: within(camera.y, rect.y - margin, least),
    zoom,
  };
}

/** Zooms by a factor about a point of the view, which stays where it is. */
export function zoomAt(camera: Camera, factor: number, viewX: number, viewY: number): Camera {
  const zoom = clamp(camera.zoom * factor, LEAST_ZOOM, MOST_ZOOM);
  return {
    x: camera.x + viewX / camera.zoom - viewX / zoom,
    y: camera.y + viewY / camera.zoom - viewY / zoom,
    zoom,
  };
}

/** Moves just enough to show a rectangle, zooming in if it is not legible. */
export function reveal(camera: Camera, rect: Rect, view: Size): Camera {
  const zoom = camera.zoom < LEGIBLE ? 0.9 : camera.zoom;
  const seen = { width: view.width / zoom, height: view.height / zoom };
  if (zoom !== camera.zoom || rect.width > seen.width || rect.height > seen.height) {
    return centred(
      rect.x + rect.width / 2,
      rect.y + Math.min(rect.height, seen.height) / 2,
      zoom,
      view,
    );
  }
  const around = NEIGHBOURHOOD / zoom;
  const aside = Math.min(around, (seen.width - rect.width) / 2);
  const above = Math.min(around, (seen.height - rect.height) / 2);
  const x = within(camera.x, rect.x - aside, rect.x + rect.width + aside - seen.width);
  const y = within(camera.y, rect.y - above, rect.y + rect.height + above - seen.height);
  return { x, y, zoom };
}

/** Whether all of a rectangle is in view. */
export function shows(camera: Camera, rect: Rect, view: Size): boolean {
  return isWithin(rect, visible(camera, view));
}

/** Between two cameras; `part` from 0 to 1. */
export function between(from: Camera, to: Camera, part: number): Camera {
  const mix = (a: number, b: number): number => a + (b - a) * part;
  return { x: mix(from.x, to.x), y: mix(from.y, to.y), zoom: mix(from.zoom, to.zoom) };
}

export function sameCamera(a: Camera, b: Camera): boolean {
  return a.x === b.x && a.y === b.y && a.zoom === b.zoom;
}

/** The part of the scene in view. */
export function visible(camera: Camera, view: Size): Rect {
  return {
    x: camera.x,
    y: camera.y,
    width: view.width / camera.zoom,
    height: view.height / camera.zoom,
  };
}

function centred(x: number, y: number, zoom: number, view: Size): Camera {
  return { x: x - view.width / zoom / 2, y: y - view.height / zoom / 2, zoom };
}

/** A left edge that leaves no more than the margin empty; the middle where all fits. */
function sideways(left: number, from: number, to: number, seen: number): number {
  if (to - from <= seen) return (from + to - seen) / 2;
  return within(left, to - seen, from);
}

function within(at: number, most: number, least: number): number {
  return at > most ? most : Math.max(at, least);
}

function clamp(value: number, least: number, most: number): number {
  return Math.min(Math.max(value, least), most);
}
