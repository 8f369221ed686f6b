/**
 * The layout of the panes: the graph and its details side by side if there is room, or one above the
 * other. The graph is never the narrower of the two.
 */

import type { CSSProperties } from "preact";
import { CompareBar } from "../compare/CompareBar";
import { GraphPane } from "../graph/GraphPane";
import { Ladder } from "../ladder/Ladder";
import { Outline } from "../panes/outline/Outline";
import type { Program } from "../program";
import type { Store } from "../store";
import { Detail, Details } from "./Details";
import { Guarded } from "./Guarded";
import { Split } from "./Split";
import { DEFAULTS, type Sizes } from "./sizes";
import type { Box } from "./useBox";

/** Narrower than this, panes are stacked. */
const NARROW = 820;
/** Narrower than this, there is no room for an outline next to the graph: it replaces the graph. */
const NARROWEST = 540;
/** A view this low has no room for one pane above the other, unless it is very narrow. */
const LOW = 440;
const LEAST_OUTLINE = 140;
const LEAST_DETAILS = 260;
/** Narrower, the tabs of the details do not fit into one row. */
const ONE_ROW = 416;
const LEAST_ROW = 130;
/** The lines around the view and between its panes. */
const FRAME = 3;
/** How wide the search box is while the outline is folded. */
const SEARCH = 190;
const NARROW_SEARCH = 132;
/** Narrower, a graph's buttons need the room of the wide search box. */
const ROOMY = 640;

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

/** The graph at the left, the details at the right. */
function SideBySide({ store, program, box, sizes, change }: ColumnsProps) {
  const left = outlineWidth(store, box, sizes);
  const most = Math.floor((box.width - left) / 2) - FRAME;
  const right = clamped(Math.max(sizes.right * box.width, ONE_ROW), LEAST_DETAILS, most);
  return (
    <div class="tx-body">
      <Picture
        store={store}
        program={program}
        box={box}
        width={box.width - right}
        sizes={sizes}
        change={change}
      />
      <Split
        label="Width of the details"
        along="row"
        value={right}
        least={LEAST_DETAILS}
        most={most}
        side={-1}
        change={(size) => change({ right: size / box.width })}
        reset={() => change({ right: DEFAULTS.right })}
      />
      <div class="tx-side" style={{ width: `${right}px` }}>
        <Details
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

/** Whether the outline is unfolded: it is pinned, or shows the matches of a search. */
const isUnfolded = (store: Store, sizes: Sizes): boolean =>
  sizes.outline === 1 || store.query.value.trim() !== "";

/** The width that an unfolded outline takes from the graph; 0 for none. */
function outlineWidth(store: Store, box: Box, sizes: Sizes): number {
  if (!isUnfolded(store, sizes)) return 0;
  if (box.width < NARROWEST) return box.width;
  return clamped(sizes.left, LEAST_OUTLINE, Math.floor(box.width / 3));
}

interface PictureProps extends ColumnsProps {
  /** The size of the picture, in pixels. */
  width: number;
}

/**
 * The search box and the graph's buttons in one row; below it the graph, and the outline if it is
 * wanted.
 */
function Picture({ store, program, box, width, sizes, change }: PictureProps) {
  const left = outlineWidth(store, box, sizes);
  const folded = width < ROOMY ? NARROW_SEARCH : SEARCH;
  const style = { "--tx-outline": `${left}px`, "--tx-search": `${left || folded}px` };
  return (
    <div class="tx-middle" style={style as CSSProperties}>
      <Guarded name="Outline" program={program}>
        <Outline
          store={store}
          program={program}
          folded={left === 0}
          fold={(folds) => change({ outline: folds ? 0 : 1 })}
        />
      </Guarded>
      {left > 0 && left < box.width && (
        <div class="tx-outline-edge">
          <Split
            label="Width of the outline"
            along="row"
            value={left}
            least={LEAST_OUTLINE}
            most={Math.floor(box.width / 3)}
            side={1}
            change={(size) => change({ left: size })}
            reset={() => change({ left: DEFAULTS.left })}
          />
        </div>
      )}
      <GuardedGraph store={store} program={program} />
    </div>
  );
}

interface PaneProps {
  store: Store;
  program: Program;
}

export function GuardedGraph({ store, program }: PaneProps) {
  const comparison = store.comparison.value;
  return (
    <Guarded name="Graph" program={program}>
      {comparison ? (
        <GraphPane store={store}>
          <CompareBar store={store} comparison={comparison} />
        </GraphPane>
      ) : (
        <Ladder store={store} program={program} />
      )}
    </Guarded>
  );
}

/** The graph above, the details below. */
function OneColumn({ store, program, box, sizes, change }: ColumnsProps) {
  const height = clamped(sizes.upper * box.height, LEAST_ROW, box.height - LEAST_ROW);
  return (
    <div class="tx-body tx-body-column">
      <div class="tx-side" style={{ height: `${height}px` }}>
        <Picture
          store={store}
          program={program}
          box={box}
          width={box.width}
          sizes={sizes}
          change={change}
        />
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
        <Details store={store} program={program} height={0} sizes={sizes} change={change} />
      </div>
    </div>
  );
}

const clamped = (value: number, least: number, most: number): number =>
  Math.max(Math.min(value, most), least);
