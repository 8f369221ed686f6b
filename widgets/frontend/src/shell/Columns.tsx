/**
 * Where the panes stand: side by side where there is room, else one above the other. The outline
 * folds into a strip where its column would leave the graph too little.
 */

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

/** Narrower than this, the outline is folded at first. */
const WIDE = 940;
const WIDE_FOR_TWO_GRAPHS = 1240;
/** Narrower than this, panes stand one above the other, unless the view is too low for that. */
const NARROW = 820;
const NARROWEST = 540;
const LOW = 520;
/** Width of the strip of a folded outline, as in shell.css. */
const STRIP = 24;
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
  return isStacked(props.box) ? <OneColumn {...props} /> : <SideBySide {...props} />;
}

const isStacked = ({ width, height }: Box): boolean =>
  width < NARROWEST || (width < NARROW && height >= LOW);

/** Outline, graph and details; `/` unfolds the outline, in a narrow view in the graph's place. */
function SideBySide({ store, program, box, sizes, change }: ColumnsProps) {
  const [unfolded, setUnfolded] = useState(false);
  const twoGraphs = store.comparison.value !== null && store.arrangement.value === "beside";
  const foldable = box.width < (twoGraphs ? WIDE_FOR_TWO_GRAPHS : WIDE);
  const instead = unfolded && box.width < NARROW;
  const outlined = !instead && (unfolded || !foldable);
  const room = box.width - (foldable ? STRIP : 0) - LEAST_GRAPH;
  const left = outlined ? clamped(sizes.left, LEAST_COLUMN, room - LEAST_DETAILS) : 0;
  const share = foldable ? "half" : "right";
  const right = clamped(sizes[share] * box.width, LEAST_DETAILS, room - left);
  return (
    <div class="tx-body">
      {foldable && (
        <button
          type="button"
          class="tx-folded"
          data-tab="outline"
          aria-expanded={unfolded}
          title={
            unfolded ? "Fold the outline" : "Outline: modules and ops as a tree, and search (/)"
          }
          onClick={() => setUnfolded(!unfolded)}
        >
          Outline
        </button>
      )}
      {outlined && (
        <>
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
        </>
      )}
      <div class="tx-middle">
        {instead ? (
          <GuardedOutline store={store} program={program} />
        ) : (
          <GuardedGraph store={store} program={program} />
        )}
      </div>
      <Split
        label="Width of the details"
        along="row"
        value={right}
        least={LEAST_DETAILS}
        most={room - left}
        side={-1}
        change={(size) => change({ [share]: size / box.width })}
        reset={() => change({ [share]: DEFAULTS[share] })}
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
    <div class={`tx-body tx-teaching${isStacked(box) ? " tx-body-column" : ""}`}>
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
        <Tabs label="Graph or outline" tabs={UPPER} open={upper} choose={setUpper}>
          {upper === "graph" ? (
            <GuardedGraph store={store} program={program} />
          ) : (
            <GuardedOutline store={store} program={program} />
          )}
        </Tabs>
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
