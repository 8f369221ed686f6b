/** The Graph pane: the canvas, its overlays, and its keys. */

import type { ComponentChildren } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { useDomId } from "../dom_id";
import { capped, counted } from "../format";
import type { Store } from "../store";
import { BeforeCanvas } from "./BeforeCanvas";
import { Chosen } from "./Chosen";
import type { Beyond } from "./camera";
import { Legend } from "./Legend";
import { listenToWheel, pointer } from "./pointer";
import { SIDES } from "./stage";
import { Toolbar } from "./Toolbar";
import { GraphView } from "./view";

const HINT_MS = 1800;
const SCROLL_HINT = "Ctrl and scroll to zoom, or click the graph first to scroll in it";

interface GraphPaneProps {
  store: Store;
  /** Content of the toolbar in place of its buttons, such as a comparison's. */
  children?: ComponentChildren;
}

export function GraphPane({ store, children }: GraphPaneProps) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const map = useRef<HTMLCanvasElement>(null);
  const [view, setView] = useState<GraphView | null>(null);
  const [hinted, hint] = useHint();
  const chosen = useDomId();
  // Not after the page has painted: the layout can be under way by then.
  useLayoutEffect(() => {
    if (!canvas.current || !map.current) return;
    const made = new GraphView(store, canvas.current, map.current);
    const stopWheel = listenToWheel(canvas.current, made.stage, hint);
    setView(made);
    store.graph.value = made;
    return () => {
      if (store.graph.peek() === made) store.graph.value = null;
      stopWheel();
      made.dispose();
    };
  }, [store, hint]);
  const trouble = view?.trouble.value;
  if (trouble) throw trouble.error; // said in place of this pane
  const goTo = (event: PointerEvent): void => view?.stage.goTo(event.offsetX, event.offsetY);
  const program = store.program.value;
  const empty = program?.record.graphs.length === 0;
  const aside = view?.stage.aside.value ?? false;
  const low = (view?.stage.beyond.value?.below ?? 0) > 0;
  const comparison = store.comparison.value;
  const beside = comparison !== null && store.arrangement.value === "beside";
  return (
    <section class="tx-graph" aria-label="Graph" data-pane>
      {view && (
        <Toolbar view={view} store={store}>
          {children}
        </Toolbar>
      )}
      <div class="tx-graph-halves">
        {beside && view && (
          <div class="tx-graph-stage">
            <BeforeCanvas
              store={store}
              view={view}
              hint={hint}
              onKeyDown={(event) => onKey(event, view)}
            />
            <Half side="Before" title={store.nameOf(comparison.other)} />
          </div>
        )}
        <div class="tx-graph-stage">
          <canvas
            ref={canvas}
            class="tx-canvas"
            tabIndex={0}
            data-focus
            // As an image, a screen reader would keep the arrow keys, and as an application with
            // nothing in it, Orca says nothing of it.
            role="listbox"
            aria-roledescription="graph"
            aria-label="The program as a graph. Arrow keys move between boxes, Enter opens and closes one. The outline lists the same ops."
            aria-activedescendant={chosen}
            data-testid="graph"
            onKeyDown={(event) => view && onKey(event, view)}
            {...(view ? pointer(view) : {})}
          >
            <Chosen id={chosen} store={store} />
          </canvas>
          {beside && <Half side="After" title={store.nameOf(store.current.value)} />}
          {view && !beside && <Where view={view} />}
          {view && <BeyondView view={view} />}
          <canvas
            ref={map}
            class={`tx-minimap${aside ? " tx-minimap-aside" : ""}`}
            role="img"
            aria-label="Minimap: the whole graph, with the visible part marked"
            hidden={!view?.stage.crowded.value}
            onPointerDown={(event) => {
              (event.currentTarget as Element).setPointerCapture(event.pointerId);
              goTo(event);
            }}
            onPointerMove={(event) => event.buttons === 1 && goTo(event)}
          />
          {program && !empty && <Legend store={store} program={program} aside={aside} low={low} />}
          {hinted && <p class="tx-graph-note">{SCROLL_HINT}</p>}
          <p class="tx-hidden" aria-live="polite" data-testid="graph-said">
            {view?.folding.said.value}
          </p>
          {view?.folding.busy.value && (
            <p class="tx-graph-note" role="status">
              Laying out…
            </p>
          )}
          {view?.folding.problem.value && (
            <p class="tx-graph-note tx-failure-sentence" role="alert">
              {capped(view.folding.problem.value)}
            </p>
          )}
          {empty && (
            <p class="tx-empty">There is no graph: the export failed before its first op.</p>
          )}
        </div>
      </div>
    </section>
  );
}

/** The heading of a half: which of the two programs it is. */
function Half({ side, title }: { side: "Before" | "After"; title: string }) {
  return (
    <p class="tx-half" title={capped(title)}>
      <b>{side}</b> {capped(title, 80)}
    </p>
  );
}

const WAYS: Record<keyof Beyond, [sign: string, x: number, y: number]> = {
  above: ["▴", 0, -1],
  below: ["▾", 0, 1],
  left: ["◂", -1, 0],
  right: ["▸", 1, 0],
};
/** The share of the view that a press moves by. */
const FAR = 0.8;

/** Boxes outside the fitted view: how many on each side, with a button to go there. */
function BeyondView({ view }: { view: GraphView }) {
  const beyond = view.stage.beyond.value;
  return (
    <>
      {beyond &&
        SIDES.filter((side) => beyond[side] > 0).map((side) => {
          const [sign, x, y] = WAYS[side];
          const { width, height } = view.stage.size;
          return (
            <button
              key={side}
              type="button"
              class={`tx-beyond tx-beyond-${side}`}
              title={`${counted(beyond[side], "box", "boxes")} ${side}: go there`}
              onClick={() => view.stage.panBy(FAR * x * width, FAR * y * height)}
            >
              <span aria-hidden="true">{sign} </span>
              {beyond[side]} more<span class="tx-hidden"> boxes {side}</span>
            </button>
          );
        })}
    </>
  );
}

/** The open scopes that the middle of the view is in, each a way to it. */
function Where({ view }: { view: GraphView }) {
  const boxes = view.stage.where.value;
  if (boxes.length === 0) return null;
  return (
    <nav class="tx-where" aria-label="Open scopes in view">
      {boxes.map(({ item }) => (
        <button
          key={item.key}
          type="button"
          class="tx-link"
          title={`Go to ${capped(item.title)} ${capped(item.subtitle)}`}
          onClick={() => view.folding.goTo(item)}
        >
          {capped(item.title, 40)}
        </button>
      ))}
    </nav>
  );
}

/** Something said for a moment: whether it is shown, and what shows it. */
function useHint(): [boolean, () => void] {
  const [shown, setShown] = useState(false);
  const timer = useRef(0);
  const [hint] = useState(() => (): void => {
    setShown(true);
    clearTimeout(timer.current);
    timer.current = window.setTimeout(() => setShown(false), HINT_MS);
  });
  useEffect(() => () => clearTimeout(timer.current), []);
  return [shown, hint];
}

function onKey(event: KeyboardEvent, view: GraphView): void {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const item = view.selected();
  const actions: Record<string, () => void> = {
    "+": () => view.stage.zoomBy(1.25),
    "=": () => view.stage.zoomBy(1.25),
    "-": () => view.stage.zoomBy(0.8),
    f: () => view.folding.fit(),
    z: () => view.zoomToSelection(),
    e: () => void view.folding.expandAll(),
    c: () => void view.folding.collapseAll(),
    p: () => view.highlights.togglePath(),
    Enter: () => item && void view.folding.toggle(item),
    ArrowUp: () => view.step("up"),
    ArrowDown: () => view.step("down"),
    ArrowLeft: () => view.step("left"),
    ArrowRight: () => view.step("right"),
  };
  const action = actions[event.key];
  if (!action) return;
  event.preventDefault();
  event.stopPropagation(); // a notebook has its own keys
  action();
}
