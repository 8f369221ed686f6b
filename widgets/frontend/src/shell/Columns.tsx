/** Where the panes stand: three columns where there is room for them, else one above the other. */

import { useState } from "preact/hooks";
import { CompareBar } from "../compare/CompareBar";
import { GraphPane } from "../graph/GraphPane";
import { Outline } from "../panes/outline/Outline";
import type { Program } from "../program";
import type { Store } from "../store";
import { Detail, StackedDetails, TabbedDetails } from "./Details";
import { Guarded } from "./Guarded";
import { Split } from "./Split";
import { DEFAULTS, type Sizes } from "./sizes";
import { Tabs } from "./Tabs";
import type { Box } from "./useBox";

/** Narrower than this, three columns would leave the graph no room. */
const NARROW = 820;
const LEAST_COLUMN = 140;
const LEAST_DETAILS = 260;
const LEAST_GRAPH = 340;
const LEAST_ROW = 130;

interface ColumnsProps {
  store: Store;
  program: Program;
  box: Box;
  sizes: Sizes;
  change: (change: Partial<Sizes>) => void;
}

export function Columns(props: ColumnsProps) {
  const { store, program } = props;
  if (store.teaching.value && !program.record.failure) return <Teaching {...props} />;
  return props.box.width < NARROW ? <OneColumn {...props} /> : <ThreeColumns {...props} />;
}

function ThreeColumns({ store, program, box, sizes, change }: ColumnsProps) {
  const room = box.width - LEAST_GRAPH;
  const left = clamped(sizes.left, LEAST_COLUMN, room - LEAST_DETAILS);
  const right = clamped(sizes.right * box.width, LEAST_DETAILS, room - left);
  return (
    <div class="tx-body">
      <div class="tx-side" style={{ width: `${left}px` }}>
        <GuardedOutline store={store} program={program} />
      </div>
      <Split
        label="Width of the outline"
        along="row"
        value={left}
        least={LEAST_COLUMN}
        most={room - right}
        side={1}
        change={(size) => change({ left: size })}
        reset={() => change({ left: DEFAULTS.left })}
      />
      <div class="tx-middle">
        <GuardedGraph store={store} program={program} />
      </div>
      <Split
        label="Width of the details"
        along="row"
        value={right}
        least={LEAST_DETAILS}
        most={room - left}
        side={-1}
        change={(size) => change({ right: size / box.width })}
        reset={() => change({ right: DEFAULTS.right })}
      />
      <div class="tx-side" style={{ width: `${right}px` }}>
        <StackedDetails
          store={store}
          program={program}
          height={box.height}
          sizes={sizes}
          change={change}
        />
      </div>
    </div>
  );
}

/** Graph and source alone, in type that the last row of a room reads. */
function Teaching({ store, program, box }: ColumnsProps) {
  return (
    <div class={`tx-body tx-teaching${box.width < NARROW ? " tx-body-column" : ""}`}>
      <div class="tx-middle">
        <GuardedGraph store={store} program={program} />
      </div>
      <div class="tx-side tx-teaching-source">
        <Detail tab="source" store={store} program={program} />
      </div>
    </div>
  );
}

interface PaneProps {
  store: Store;
  program: Program;
}

function GuardedOutline({ store, program }: PaneProps) {
  return (
    <Guarded name="Outline" program={program}>
      <Outline store={store} program={program} />
    </Guarded>
  );
}

export function GuardedGraph({ store, program }: PaneProps) {
  const comparison = store.comparison.value;
  return (
    <Guarded name="Graph" program={program}>
      <GraphPane store={store}>
        {comparison && <CompareBar store={store} comparison={comparison} />}
      </GraphPane>
    </Guarded>
  );
}

const UPPER = [
  ["graph", "Graph"],
  ["outline", "Outline"],
] as const;

/** The graph or the outline above, the details below. */
function OneColumn({ store, program, box, sizes, change }: ColumnsProps) {
  const [upper, setUpper] = useState<"graph" | "outline">("graph");
  const height = clamped(sizes.upper * box.height, LEAST_ROW, box.height - LEAST_ROW);
  return (
    <div class="tx-body tx-body-column">
      <div class="tx-side" style={{ height: `${height}px` }}>
        <Tabs label="Graph or outline" tabs={UPPER} open={upper} choose={setUpper} />
        {upper === "graph" ? (
          <GuardedGraph store={store} program={program} />
        ) : (
          <GuardedOutline store={store} program={program} />
        )}
      </div>
      <Split
        label="Height of the graph"
        along="column"
        value={height}
        least={LEAST_ROW}
        most={box.height - LEAST_ROW}
        side={1}
        change={(size) => change({ upper: size / box.height })}
        reset={() => change({ upper: DEFAULTS.upper })}
      />
      <div class="tx-side" style={{ flex: "1 1 0" }}>
        <TabbedDetails store={store} program={program} />
      </div>
    </div>
  );
}

const clamped = (value: number, least: number, most: number): number =>
  Math.max(Math.min(value, most), least);
