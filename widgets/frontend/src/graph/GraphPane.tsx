/** The Graph pane: the canvas, its toolbar, and the pointer and the keys that drive it. */

import { useEffect, useRef, useState } from "preact/hooks";
import type { Store } from "../store";
import { MINIMAP, minimapSize } from "./minimap";
import { download } from "./saving";
import { GraphView } from "./view";

const DRAG_PIXELS = 3;

export function GraphPane({ store }: { store: Store }) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const map = useRef<HTMLCanvasElement>(null);
  const [view, setView] = useState<GraphView | null>(null);
  useEffect(() => {
    if (!canvas.current || !map.current) return;
    const made = new GraphView(store, canvas.current, map.current, store.housekeeping);
    const stopWheel = listenToWheel(canvas.current, made);
    setView(made);
    return () => {
      stopWheel();
      made.dispose();
    };
  }, [store]);
  const scene = view?.scene.value;
  const small = scene ? minimapSize(scene) : MINIMAP;
  const mapStyle = { width: `${small.width}px`, height: `${small.height}px` };
  const empty = store.program.value?.record.graphs.length === 0;
  return (
    <section class="tx-graph" aria-label="Graph">
      {view && <Toolbar view={view} store={store} />}
      <canvas
        ref={canvas}
        class="tx-canvas"
        tabIndex={0}
        role="img"
        aria-label="The program as a graph. The outline lists the same ops for a screen reader."
        data-testid="graph"
        onKeyDown={(event) => view && onKey(event, view)}
        {...(view ? pointer(view) : {})}
      />
      <div
        class="tx-minimap"
        role="presentation"
        hidden={!view?.crowded.value}
        onPointerDown={(event) => view && goTo(event, view)}
        onPointerMove={(event) => view && event.buttons === 1 && goTo(event, view)}
      >
        <div style={{ ...mapStyle, overflow: "hidden" }}>
          <canvas
            ref={map}
            style={{ width: `${MINIMAP.width}px`, height: `${MINIMAP.height}px` }}
          />
        </div>
      </div>
      {view?.busy.value && (
        <div class="tx-graph-busy" role="status">
          Laying out…
        </div>
      )}
      {empty && <p class="tx-empty">There is no graph: the export failed before its first op.</p>}
    </section>
  );
}

function Toolbar({ view, store }: { view: GraphView; store: Store }) {
  const hidden = view.hidden.value;
  const housekeeping = store.housekeeping.value;
  const save = async (kind: "svg" | "png"): Promise<void> => {
    const content =
      kind === "svg" ? new Blob([view.svg()], { type: "image/svg+xml" }) : await view.png();
    download(`graph.${kind}`, content);
  };
  return (
    <div class="tx-toolbar" role="toolbar" aria-label="Graph">
      <Button name="Zoom in (+)" text="+" press={() => view.zoomBy(1.25)} />
      <Button name="Zoom out (-)" text="−" press={() => view.zoomBy(0.8)} />
      <Button name="Show all (f)" text="Fit" press={() => view.fit()} />
      <Button name="Open every scope (e)" text="Expand" press={() => void view.expandAll()} />
      <Button name="Close every scope (c)" text="Collapse" press={() => void view.collapseAll()} />
      <Toggle
        name="Highlight what leads to the selection and what follows from it (p)"
        text="Path"
        on={view.showPath.value}
        press={() => (view.showPath.value = !view.showPath.value)}
      />
      <Toggle
        name="Show parameters and buffers as boxes of their own"
        text="Weights"
        on={view.parameters.value}
        press={() => (view.parameters.value = !view.parameters.value)}
      />
      {(hidden > 0 || housekeeping) && (
        <Toggle
          name="Show ops that only check or compute sizes"
          text={housekeeping ? "Sizes" : `Sizes +${hidden}`}
          on={housekeeping}
          press={() => (store.housekeeping.value = !housekeeping)}
        />
      )}
      <span class="tx-toolbar-gap" />
      <Button name="Save the visible graph as SVG" text="SVG" press={() => void save("svg")} />
      <Button name="Save the visible graph as PNG" text="PNG" press={() => void save("png")} />
    </div>
  );
}

function Button({ name, text, press }: { name: string; text: string; press: () => void }) {
  return (
    <button type="button" class="tx-button" title={name} aria-label={name} onClick={press}>
      {text}
    </button>
  );
}

interface ToggleProps {
  name: string;
  text: string;
  on: boolean;
  press: () => void;
}

function Toggle({ name, text, on, press }: ToggleProps) {
  return (
    <button
      type="button"
      class="tx-button"
      title={name}
      aria-label={name}
      aria-pressed={on}
      onClick={press}
    >
      {text}
    </button>
  );
}

/** Drag pans, a click selects, a double click opens and closes. */
function pointer(view: GraphView) {
  let from: { x: number; y: number } | null = null;
  let dragged = false;
  return {
    onPointerDown(event: PointerEvent) {
      if (event.button !== 0) return;
      from = { x: event.clientX, y: event.clientY };
      dragged = false;
      (event.currentTarget as Element).setPointerCapture(event.pointerId);
    },
    onPointerMove(event: PointerEvent) {
      if (!from) {
        const box = view.boxAt(event.offsetX, event.offsetY);
        view.hover(box && !box.open ? box.item : null);
        return;
      }
      const moved = Math.hypot(event.clientX - from.x, event.clientY - from.y);
      if (!dragged && moved < DRAG_PIXELS) return;
      dragged = true;
      view.panBy(from.x - event.clientX, from.y - event.clientY);
      from = { x: event.clientX, y: event.clientY };
    },
    onPointerUp(event: PointerEvent) {
      if (from && !dragged) click(view, event);
      from = null;
    },
    onPointerCancel() {
      from = null;
    },
    onPointerLeave: () => view.hover(null),
    onDblClick(event: MouseEvent) {
      const box = view.boxAt(event.offsetX, event.offsetY);
      if (box) void view.toggle(box.item);
    },
  };
}

/** The sign at the edge of a box opens and closes it; the rest of the box selects. */
function click(view: GraphView, event: PointerEvent): void {
  const box = view.boxAt(event.offsetX, event.offsetY);
  if (!box) return;
  if (box.item.children.length > 0 && view.isOnSign(box, event.offsetX, event.offsetY)) {
    void view.toggle(box.item);
  } else view.select(box.item);
}

function goTo(event: PointerEvent, view: GraphView): void {
  view.goTo(event.offsetX, event.offsetY);
}

/** The page keeps its own scrolling: the wheel is ours with Ctrl, or once the graph has the focus. */
function listenToWheel(canvas: HTMLCanvasElement, view: GraphView): () => void {
  const onWheel = (event: WheelEvent): void => {
    const focused = (canvas.getRootNode() as Document | ShadowRoot).activeElement === canvas;
    if (!event.ctrlKey && !event.metaKey && !focused) return;
    event.preventDefault();
    if (event.ctrlKey || event.metaKey) {
      view.zoomBy(Math.exp(-event.deltaY * 0.0022), event.offsetX, event.offsetY);
    } else view.panBy(event.deltaX, event.deltaY);
  };
  canvas.addEventListener("wheel", onWheel, { passive: false });
  return () => canvas.removeEventListener("wheel", onWheel);
}

function onKey(event: KeyboardEvent, view: GraphView): void {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const item = view.selected();
  const actions: Record<string, () => void> = {
    "+": () => view.zoomBy(1.25),
    "=": () => view.zoomBy(1.25),
    "-": () => view.zoomBy(0.8),
    f: () => view.fit(),
    z: () => view.zoomToSelection(),
    e: () => void view.expandAll(),
    c: () => void view.collapseAll(),
    p: () => (view.showPath.value = !view.showPath.value),
    Enter: () => item && void view.toggle(item),
    ArrowUp: () => view.step("up"),
    ArrowDown: () => view.step("down"),
    ArrowLeft: () => view.step("left"),
    ArrowRight: () => view.step("right"),
  };
  const action = actions[event.key];
  if (!action) return;
  event.preventDefault();
  event.stopPropagation(); // a notebook has keys of its own
  action();
}
