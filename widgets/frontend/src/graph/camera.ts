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
/** Below this, text of 11 px cannot be read. */
export const LEGIBLE = 0.72;
/** How large a graph is to be shown at first: between which zooms all of it, or all its width, is. */
export interface Legibility {
  least: number;
  /** The zoom of a view that is too small for it. */
  comfortable: number;
  most: number;
}
/** For one reader, and for a room. */
export const READING: Legibility = { least: LEGIBLE, comfortable: 0.8, most: 1 };
export const TEACHING: Legibility = { least: 1, comfortable: 1.1, most: 1.5 };
const MARGIN = 16;
/** Below the scene, where there is room: what the legend's one line takes. */
const SHELF = 40;
/** What is a little wider than the view still says more open than closed. */
const MOST_HIDDEN = 0.2;
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

/**
 * The initial view: everything if that is legible, else the top at a legible zoom, centred on
 * `middle` (the inputs), with no more empty space at a side than the margin.
 */
export function firstView(
  scene: Size,
  middle: number,
  view: Size,
  { comfortable, least, most }: Legibility = READING,
): Camera {
  const all = showAll({ x: 0, y: 0, ...scene }, view, most);
  if (all.zoom >= least) return all;
  const wide = (view.width - 2 * MARGIN) / Math.max(scene.width, 1);
  // Too high for the view, it is shown smaller than life-size, so that more of it is seen.
  const zoom = wide >= least ? Math.min(wide, comfortable) : comfortable;
  const margin = MARGIN / zoom;
  const left = middle - view.width / zoom / 2;
  const x = sideways(left, -margin, scene.width + margin, view.width / zoom);
  return { x, y: -margin, zoom };
}

/** Whether a scene, legible, hides more of its width than that part. */
export function isTooWide(scene: Size, view: Size, { least }: Legibility = READING): boolean {
  return view.width > 0 && scene.width * least * (1 - MOST_HIDDEN) > view.width - 2 * MARGIN;
}

/** Moves to the left edge of the narrow boxes that the view's own left edge would cut in two. */
export function wholeAtLeft(camera: Camera, boxes: readonly Rect[], view: Size): Camera {
  const seen = visible(camera, view);
  const cut = boxes.filter(
    ({ x, y, width }) =>
      x < seen.x && x + width > seen.x && y < seen.y + seen.height && width < seen.width / 3,
  );
  if (cut.length === 0) return camera;
  return { ...camera, x: Math.min(...cut.map(({ x }) => x)) - MARGIN / camera.zoom };
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
  const { x, y, width, height } = visible(camera, view);
  const [right, bottom] = [rect.x + rect.width, rect.y + rect.height];
  return rect.x >= x && rect.y >= y && right <= x + width && bottom <= y + height;
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
