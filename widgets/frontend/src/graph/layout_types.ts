/** The messages of the layout worker. Lengths are CSS pixels at zoom 1. */

/** A box to place: a leaf with a size, or a group that is as large as its contents. */
export interface LayoutBox {
  /** Size of a leaf; least width of a group (its header's), and its header's height. */
  width: number;
  height: number;
  children?: LayoutBox[];
  links?: LayoutLink[];
  /** Whether it belongs above all else in its group: an input, a port. */
  first?: boolean;
}

/** An edge between two children, by position, with the size of its label (0 for none). */
export type LayoutLink = [from: number, to: number, labelWidth: number];

/** A placed box. `x` and `y` are of the top left corner, within the group it is in. */
export interface Placed {
  x: number;
  y: number;
  width: number;
  height: number;
  children?: Placed[];
  links?: PlacedLink[];
}

/** A drawn edge: Bézier control points (x, y, ...), and the middle of its label. */
export interface PlacedLink {
  points: number[];
  label: [x: number, y: number] | null;
}

/** The boxes of one group, arranged. Corners of nothing: `boxes` are their centres. */
export interface Arrangement {
  width: number;
  height: number;
  boxes: [x: number, y: number][];
  links: PlacedLink[];
}

/** Places a box for a lane, one per view; without a box, the lane is gone. */
export interface LayoutRequest {
  id: number;
  lane: number;
  box: LayoutBox | null;
}

/** `placed` is null if the lane has a newer request. */
export type LayoutReply = { id: number; placed: Placed | null } | { id: number; error: string };

/** Where the worker's code leaves `loadPlacer` for a page that has to run it itself. */
export const PLACER = Symbol.for("export-explorer.placer");
