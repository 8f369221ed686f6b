/** The whole widget: header, outline, graph and details; tabs instead of columns where it is narrow. */

import { useEffect, useRef, useState } from "preact/hooks";
import { capped, counted } from "../format";
import { GraphPane } from "../graph/GraphPane";
import type { Layout } from "../host";
import { Code } from "../panes/Code";
import { Failure } from "../panes/Failure";
import { Inspector } from "../panes/Inspector";
import { Outline } from "../panes/Outline";
import { Shapes } from "../panes/Shapes";
import { Signature } from "../panes/Signature";
import { Source } from "../panes/Source";
import type { Program } from "../program";
import type { Store, Tab } from "../store";
import { Header } from "./Header";
import { Split } from "./Split";

const NARROW = 820;
const TABS: [Tab, string][] = [
  ["inspector", "Inspector"],
  ["source", "Source"],
  ["signature", "Signature"],
  ["shapes", "Shapes"],
  ["code", "Code"],
];

export function App({ store }: { store: Store }) {
  const element = useRef<HTMLDivElement>(null);
  const width = useWidth(element);
  const [full, toggleFull] = useFullScreen(element);
  const status = store.status.value;
  const program = store.program.value;
  useEffect(() => {
    const root = element.current?.closest(".tx-root");
    root?.classList.toggle("tx-alone", store.host.layout !== "all");
    root?.classList.toggle("tx-short", program?.record.failure !== null);
  }, [store, program]);
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: keys that work in every pane
    <div ref={element} class="tx-app" onKeyDown={(event) => onKey(event, store, element.current)}>
      {status.kind === "error" && (
        <p class="tx-failure-sentence" role="alert">
          {status.message}
        </p>
      )}
      {status.kind === "loading" && !program && <p class="tx-empty">Opening…</p>}
      {program && (
        <>
          <Header store={store} program={program} full={full} toggleFull={toggleFull} />
          <Body store={store} program={program} width={width} />
          <Live store={store} program={program} />
        </>
      )}
    </div>
  );
}

function Body({ store, program, width }: { store: Store; program: Program; width: number }) {
  const { layout } = store.host;
  const { failure } = program.record;
  if (failure && layout === "all") {
    return (
      <div class="tx-body">
        <div class="tx-middle">
          <Failure store={store} program={program} failure={failure} />
        </div>
        {width >= NARROW && store.tab.value === "source" && (
          <div class="tx-side" style={{ width: "45%" }}>
            <Source store={store} program={program} />
          </div>
        )}
      </div>
    );
  }
  if (layout !== "all") {
    return (
      <div class="tx-body">
        <div class="tx-side" style={{ flex: 1 }}>
          <Alone layout={layout} store={store} program={program} />
        </div>
      </div>
    );
  }
  return width < NARROW ? (
    <Narrow store={store} program={program} />
  ) : (
    <Wide store={store} program={program} width={width} />
  );
}

function Wide({ store, program, width }: { store: Store; program: Program; width: number }) {
  const [left, setLeft] = useState(220);
  const [right, setRight] = useState(Math.min(430, width * 0.33));
  return (
    <div class="tx-body">
      <div class="tx-side" style={{ width: `${left}px` }}>
        <Outline store={store} program={program} />
      </div>
      <Split
        label="Width of the outline"
        value={left}
        least={120}
        most={420}
        side={1}
        change={setLeft}
      />
      <div class="tx-middle">
        <GraphPane store={store} />
      </div>
      <Split
        label="Width of the details"
        value={right}
        least={220}
        most={width - left - 220}
        side={-1}
        change={setRight}
      />
      <div class="tx-side" style={{ width: `${right}px` }}>
        <Details store={store} program={program} />
      </div>
    </div>
  );
}

/** One column: the graph or the outline above, the details below. */
function Narrow({ store, program }: { store: Store; program: Program }) {
  const [upper, setUpper] = useState<"graph" | "outline">("graph");
  return (
    <div class="tx-body" style={{ flexDirection: "column" }}>
      <div class="tx-side" style={{ flex: "1 1 55%" }}>
        <div class="tx-tabs" role="tablist" aria-label="Graph or outline">
          <TabButton name="Graph" on={upper === "graph"} press={() => setUpper("graph")} />
          <TabButton name="Outline" on={upper === "outline"} press={() => setUpper("outline")} />
        </div>
        {upper === "graph" ? (
          <GraphPane store={store} />
        ) : (
          <Outline store={store} program={program} />
        )}
      </div>
      <div class="tx-side" style={{ flex: "1 1 45%", borderTop: "1px solid var(--tx-border)" }}>
        <Details store={store} program={program} />
      </div>
    </div>
  );
}

function Details({ store, program }: { store: Store; program: Program }) {
  const tab = store.tab.value;
  return (
    <>
      <div class="tx-tabs" role="tablist" aria-label="Details">
        {TABS.map(([each, name]) => (
          <TabButton
            key={each}
            name={name}
            on={tab === each}
            press={() => (store.tab.value = each)}
          />
        ))}
      </div>
      <div class="tx-panel" role="tabpanel">
        <Detail tab={tab} store={store} program={program} />
      </div>
    </>
  );
}

function Detail({ tab, store, program }: { tab: Tab; store: Store; program: Program }) {
  switch (tab) {
    case "inspector":
      return <Inspector store={store} program={program} />;
    case "source":
      return <Source store={store} program={program} />;
    case "signature":
      return <Signature store={store} program={program} />;
    case "shapes":
      return <Shapes store={store} program={program} />;
    case "code":
      return <Code store={store} program={program} />;
  }
}

function Alone({ layout, store, program }: { layout: Layout; store: Store; program: Program }) {
  if (layout === "graph" || layout === "all") return <GraphPane store={store} />;
  return <Detail tab={layout} store={store} program={program} />;
}

function TabButton({ name, on, press }: { name: string; on: boolean; press: () => void }) {
  return (
    <button type="button" class="tx-tab" role="tab" aria-selected={on} onClick={press}>
      {name}
    </button>
  );
}

/** Says what is selected, for a screen reader. */
function Live({ store, program }: { store: Store; program: Program }) {
  const nodes = [...store.lit.value.nodes];
  const first = nodes[0];
  const text =
    nodes.length === 1 && first !== undefined
      ? `${program.name(first)}, ${program.target(first)?.label ?? ""}, ${program.type(first)?.text ?? ""}`
      : nodes.length > 1
        ? `${counted(nodes.length, "op")} selected`
        : "";
  return (
    <div class="tx-hidden" role="status" aria-live="polite">
      {capped(text, 300)}
    </div>
  );
}

function onKey(event: KeyboardEvent, store: Store, element: HTMLElement | null): void {
  if (event.key === "Escape") store.clear();
  else if (event.key === "/" && !isTyping(event)) {
    const search = element?.querySelector<HTMLInputElement>("[data-search]");
    if (!search) return;
    event.preventDefault();
    search.focus();
  } else return;
  event.stopPropagation();
}

const isTyping = (event: KeyboardEvent): boolean =>
  ["INPUT", "TEXTAREA", "SELECT"].includes((event.target as Element).tagName);

function useWidth(element: { current: HTMLElement | null }): number {
  const [width, setWidth] = useState(1000);
  useEffect(() => {
    const target = element.current;
    if (!target) return;
    const observer = new ResizeObserver(() => target.clientWidth && setWidth(target.clientWidth));
    observer.observe(target);
    setWidth(target.clientWidth || 1000);
    return () => observer.disconnect();
  }, [element]);
  return width;
}

/** Full screen by the browser; where a host forbids it, over the whole page. */
function useFullScreen(element: { current: HTMLElement | null }): [boolean, () => void] {
  const [full, setFull] = useState(false);
  useEffect(() => {
    const root = element.current?.closest<HTMLElement>(".tx-root");
    root?.classList.toggle("tx-full", full);
    if (!full || !root) return;
    const leave = (): void => {
      if (!root.ownerDocument.fullscreenElement) setFull(false);
    };
    root.requestFullscreen?.().then(
      () => document.addEventListener("fullscreenchange", leave),
      () => undefined,
    );
    return () => {
      document.removeEventListener("fullscreenchange", leave);
      if (document.fullscreenElement) void document.exitFullscreen();
    };
  }, [full, element]);
  return [full, () => setFull(!full)];
}
