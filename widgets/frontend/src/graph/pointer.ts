/** Mouse, touch and wheel actions on the graph. */

import type { Rect } from "./camera";
import { between } from "./gather";
import type { Stage } from "./stage";
import type { GraphView } from "./view";

const DRAG_PIXELS = 3;
/** Share of zoom per pixel that a wheel turns. */
const WHEEL_ZOOM = 0.0022;

/**
 * Drag pans; a click selects, or clears the selection outside of all boxes; a double click opens
 * and closes. With Shift, a click adds to the selection, and a drag draws a frame around it.
 */
export function pointer(view: GraphView) {
  let from: { x: number; y: number } | null = null;
  let dragged = false;
  /** Where a frame begins, in the view; null while none is drawn. */
  let corner: { x: number; y: number } | null = null;
  const frame = ({ offsetX, offsetY }: PointerEvent): Rect | null =>
    corner && between(corner.x, corner.y, offsetX, offsetY);
  const end = (): void => {
    if (corner) view.stage.outline(null);
    from = corner = null;
  };
  return {
    onPointerDown(event: PointerEvent) {
      if (event.button !== 0) return;
      from = { x: event.clientX, y: event.clientY };
      dragged = false;
      corner = event.shiftKey ? { x: event.offsetX, y: event.offsetY } : null;
      (event.currentTarget as Element).setPointerCapture(event.pointerId);
    },
    onPointerMove(event: PointerEvent) {
      if (!from) {
        hover(view, event);
        return;
      }
      const moved = Math.hypot(event.clientX - from.x, event.clientY - from.y);
      if (!dragged && moved < DRAG_PIXELS) return;
      dragged = true;
      if (corner) {
        view.stage.outline(frame(event));
        return;
      }
      view.stage.panBy(from.x - event.clientX, from.y - event.clientY);
      from = { x: event.clientX, y: event.clientY };
    },
    onPointerUp(event: PointerEvent) {
      const around = dragged ? frame(event) : null;
      if (from && !dragged) click(view, event);
      else if (around) view.selectWithin(around);
      end();
    },
    onPointerCancel: end,
    onPointerLeave: () => view.hover(null),
    onDblClick(event: MouseEvent) {
      const box = view.folding.boxAt(event.offsetX, event.offsetY);
      // On the sign, the two clicks have opened and closed it already.
      if (!box || view.folding.isOnSign(box, event.offsetX, event.offsetY)) return;
      void view.folding.toggle(box.item);
    },
  };
}

function hover(view: GraphView, event: PointerEvent): void {
  const box = view.folding.boxAt(event.offsetX, event.offsetY);
  view.hover(box && !box.open ? box.item : null);
  const sign = box !== null && view.folding.isOnSign(box, event.offsetX, event.offsetY);
  const canvas = event.currentTarget as HTMLElement;
  canvas.style.cursor = sign ? "pointer" : "";
  const tip = view.tip(box?.item ?? null);
  if (canvas.title !== tip) canvas.title = tip;
}

/** The sign at the edge of a box opens and closes it; the rest of the box selects. */
function click(view: GraphView, event: PointerEvent): void {
  const box = view.folding.boxAt(event.offsetX, event.offsetY);
  if (box && view.folding.isOnSign(box, event.offsetX, event.offsetY))
    void view.folding.toggle(box.item);
  else if (event.shiftKey) {
    if (box && !box.open) view.add(box.item);
  } else view.select(box?.item ?? null);
}

/**
 * The wheel zooms with Ctrl, or once the graph has the focus; if not, the page scrolls, and
 * `hint` is called to explain it. Returns how to stop.
 */
export function listenToWheel(canvas: HTMLElement, stage: Stage, hint: () => void): () => void {
  const onWheel = (event: WheelEvent): void => {
    const zooms = event.ctrlKey || event.metaKey;
    const focused = (canvas.getRootNode() as Document | ShadowRoot).activeElement === canvas;
    if (!zooms && !focused) {
      hint();
      return;
    }
    event.preventDefault();
    const unit = event.deltaMode === WheelEvent.DOM_DELTA_LINE ? 16 : 1;
    if (zooms) {
      stage.zoomBy(Math.exp(-event.deltaY * unit * WHEEL_ZOOM), event.offsetX, event.offsetY);
    } else if (event.shiftKey && event.deltaX === 0) stage.panBy(event.deltaY * unit, 0);
    else stage.panBy(event.deltaX * unit, event.deltaY * unit);
  };
  canvas.addEventListener("wheel", onWheel, { passive: false });
  return () => canvas.removeEventListener("wheel", onWheel);
}
