import { expect, test, vi } from "vitest";
import { listenToWheel, pointer } from "./pointer";
import type { Stage } from "./stage";
import type { GraphView } from "./view";

const BOX = { item: { id: "op" }, open: false };

function parts(box: unknown = null) {
  const stage = { panBy: vi.fn(), zoomBy: vi.fn(), outline: vi.fn() };
  const folding = { toggle: vi.fn(), isOnSign: () => false, boxAt: () => box };
  const chosen = { select: vi.fn(), add: vi.fn(), selectWithin: vi.fn() };
  const view = { stage, folding, ...chosen, hover: vi.fn() };
  return { stage, view, hears: pointer(view as unknown as GraphView) };
}

function at(clientX: number, clientY: number): PointerEvent {
  const currentTarget = { setPointerCapture: () => undefined };
  return { button: 0, pointerId: 1, clientX, clientY, currentTarget } as unknown as PointerEvent;
}

/** A turn of the wheel; the DOM of these tests has no modifiers in its own. */
const wheel = (turned: Partial<WheelEvent>): Event =>
  Object.assign(new Event("wheel", { cancelable: true }), turned);

test("dragging moves the graph with the pointer, and selects nothing", () => {
  const { stage, view, hears } = parts(BOX);
  hears.onPointerDown(at(100, 100));
  hears.onPointerMove(at(130, 90));
  hears.onPointerMove(at(140, 90));
  hears.onPointerUp(at(140, 90));
  expect(stage.panBy.mock.calls).toEqual([
    [-30, 10],
    [-10, 0],
  ]);
  expect(view.select).not.toHaveBeenCalled();
});

test("a click that trembles is a click", () => {
  const { stage, view, hears } = parts(BOX);
  hears.onPointerDown(at(100, 100));
  hears.onPointerMove(at(101, 101));
  hears.onPointerUp(at(101, 101));
  expect(stage.panBy).not.toHaveBeenCalled();
  expect(view.select).toHaveBeenCalledWith(BOX.item);
});

/** The same with Shift, the canvas being at the corner of the page. */
const shifted = (x: number, y: number): PointerEvent =>
  ({ ...at(x, y), shiftKey: true, offsetX: x, offsetY: y }) as PointerEvent;

test("Shift and a click add to the selection; not what lies below an open box's ground", () => {
  const { view, hears } = parts(BOX);
  hears.onPointerDown(shifted(100, 100));
  hears.onPointerUp(shifted(100, 100));
  expect(view.add).toHaveBeenCalledWith(BOX.item);
  const ground = parts({ ...BOX, open: true });
  ground.hears.onPointerDown(shifted(1, 1));
  ground.hears.onPointerUp(shifted(1, 1));
  expect(ground.view.add).not.toHaveBeenCalled();
  expect(ground.view.select).not.toHaveBeenCalled();
});

test("Shift and a drag select what is in the frame, and pan nothing", () => {
  const { stage, view, hears } = parts(BOX);
  hears.onPointerDown(shifted(100, 100));
  hears.onPointerMove(shifted(60, 150));
  hears.onPointerUp(shifted(60, 150));
  const frame = { x: 60, y: 100, width: 40, height: 50 };
  expect(view.selectWithin).toHaveBeenCalledWith(frame);
  expect(stage.outline.mock.calls).toEqual([[frame], [null]]);
  expect(stage.panBy).not.toHaveBeenCalled();
});

test("a double click opens a box, and does nothing beside all", () => {
  const { view, hears } = parts(BOX);
  hears.onDblClick(at(1, 1));
  expect(view.folding.toggle).toHaveBeenCalledWith(BOX.item);
  const beside = parts(null);
  beside.hears.onDblClick(at(1, 1));
  expect(beside.view.folding.toggle).not.toHaveBeenCalled();
});

test("Ctrl and the wheel zoom towards the pointer; the wheel alone is the page's", () => {
  const { stage } = parts();
  const canvas = document.createElement("canvas");
  const hint = vi.fn();
  const stop = listenToWheel(canvas, stage as unknown as Stage, hint);
  canvas.dispatchEvent(wheel({ deltaY: 40 }));
  expect(hint).toHaveBeenCalledOnce();
  expect(stage.zoomBy).not.toHaveBeenCalled();
  canvas.dispatchEvent(wheel({ deltaY: -40, ctrlKey: true }));
  expect(stage.zoomBy.mock.calls[0]?.[0]).toBeGreaterThan(1);
  stop();
});
