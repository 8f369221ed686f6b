/** The output of one op: a heat map of two of its axes, and the numbers around a cell. */

import { useEffect, useRef } from "preact/hooks";
import { capped, numberText } from "../../format";
import type { TensorRequest } from "../../messages.gen";
import { graphOf, indexOf, type NodeId, type Program } from "../../program";
import type { TensorSlice } from "../../record.gen";
import type { Store } from "../../store";
import { heat } from "../../values";
import type { TensorPlace } from "../../view_state";
import { Empty, NodeLink, Waiting } from "../parts/parts";
import { SizeBox } from "../parts/SizeBox";
import { useAnswer } from "../parts/useAnswer";
import { Bars } from "./Bars";

const SIDE = 288;
const SIDES: [TensorRequest["side"], string][] = [
  ["one", "this run"],
  ["other", "the other run"],
  ["difference", "difference"],
];

const START: Omit<TensorPlace, "node"> = {
  ...{ side: "one", rows: -2, columns: -1 },
  ...{ index: [0], cell: [0, 0] },
};

interface Props {
  store: Store;
  program: Program;
  node: NodeId;
  /** Whether another run has its partner. */
  paired: boolean;
}

export function TensorView({ store, program, node, paired }: Props) {
  const kept = store.tensorPlace.value;
  const { side, ...place } = kept?.node === node ? kept : { ...START, node };
  const change = (next: Partial<TensorPlace>): void => {
    store.tensorPlace.value = { ...place, side, ...next };
  };
  const { rows, columns, index, cell } = place;
  const answer = useAnswer(
    () =>
      store.tensor({
        ...{ graph: graphOf(node), node: indexOf(node), side },
        ...{ rows, columns, index, cell },
      }),
    [node, kept, program],
  );
  const last = useRef<TensorSlice | null>(null);
  if (answer.kind === "there") last.current = answer.value;
  const shown = last.current;
  return (
    <section aria-label="Tensor" data-testid="tensor" class="tx-tensor">
      <h3 class="tx-pane-title">
        <NodeLink store={store} program={program} node={node} origin="values" />{" "}
        <span class="tx-mono">{capped(program.type(node)?.text ?? "", 80)}</span>
      </h3>
      {paired && (
        <div class="tx-filters">
          {SIDES.map(([value, name]) => (
            <button
              key={value}
              type="button"
              class="tx-button"
              aria-pressed={side === value}
              onClick={() => change({ side: value })}
            >
              {name}
            </button>
          ))}
        </div>
      )}
      {answer.kind === "refused" && <Empty>{capped(answer.why, 300)}</Empty>}
      {answer.kind === "waiting" && !shown && <Waiting what="the tensor" slow={answer.slow} />}
      {shown && answer.kind !== "refused" && <Shown slice={shown} change={change} />}
    </section>
  );
}

interface ShownProps {
  slice: TensorSlice;
  change: (next: Partial<TensorPlace>) => void;
}

function Shown({ slice, change }: ShownProps) {
  const free = slice.axes.flatMap((_, axis) =>
    axis === slice.rows || axis === slice.columns ? [] : [axis],
  );
  const [step = 1, across = 1] = slice.steps;
  return (
    <>
      {slice.axes.length > 2 && (
        <div class="tx-filters">
          <AxisChoice
            slice={slice}
            axis={slice.rows}
            name="Down"
            put={(rows) => change({ rows })}
          />
          <AxisChoice
            slice={slice}
            axis={slice.columns}
            name="across"
            put={(columns) => change({ columns })}
          />
          {free.map((axis) => (
            <span key={axis}>
              {capped(slice.axes[axis] ?? "", 40)}{" "}
              <SizeBox
                value={slice.index[axis] ?? 0}
                label={`Place on ${slice.axes[axis]}, of ${slice.shape[axis]}`}
                bad={false}
                least={0}
                testId={`place-${axis}`}
                put={(at) =>
                  change({ index: slice.index.map((old, of) => (of === axis ? at : old)) })
                }
              />
              {" of "}
              {slice.shape[axis]}
            </span>
          ))}
        </div>
      )}
      <div class="tx-tensor-parts">
        <HeatMap slice={slice} pick={(cell) => change({ cell })} />
        {slice.image.length > 0 && <Picture rows={slice.image} />}
        <div>
          <Bars bars={slice.histogram} wide={2} />
          <p class="tx-lead">
            {numberText(slice.low)} to {numberText(slice.high)}, mean {numberText(slice.mean)}, std{" "}
            {numberText(slice.std)}
            {slice.nans > 0 && <b class="tx-run-bad">, {slice.nans} NaN</b>}
            {slice.infs > 0 && <b class="tx-run-bad">, {slice.infs} inf</b>}
            {(step > 1 || across > 1) && `; every ${step}th row and ${across}th column is drawn`}
          </p>
        </div>
      </div>
      <Near slice={slice} />
    </>
  );
}

interface AxisProps {
  slice: TensorSlice;
  axis: number;
  name: string;
  put: (axis: number) => void;
}

function AxisChoice({ slice, axis, name, put }: AxisProps) {
  return (
    <label>
      {name}{" "}
      <select
        class="tx-input"
        value={String(axis)}
        onChange={(event) => put(Number(event.currentTarget.value))}
      >
        {slice.axes.map((each, at) => (
          <option key={at} value={String(at)}>
            {capped(each, 40)} ({slice.shape[at]})
          </option>
        ))}
      </select>
    </label>
  );
}

/** The meaning of red, green and blue pixels. */
function Picture({ rows }: { rows: TensorSlice["image"] }) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const columns = rows[0]?.length ?? 0;
  useEffect(() => {
    const context = canvas.current?.getContext("2d");
    if (!context || columns === 0) return;
    const image = context.createImageData(columns, rows.length);
    rows.flat().forEach((pixel, at) => {
      image.data.set([...pixel, 255], 4 * at);
    });
    context.putImageData(image, 0, 0);
  }, [rows, columns]);
  const size = Math.max(rows.length, columns, 1);
  return (
    <canvas
      ref={canvas}
      class="tx-heat-map"
      width={columns}
      height={rows.length}
      data-testid="picture"
      role="img"
      aria-label="The tensor as a picture"
      style={{
        width: `${(SIDE * columns) / size}px`,
        height: `${(SIDE * rows.length) / size}px`,
      }}
    />
  );
}

/** A click picks the cell whose numbers are shown. */
function HeatMap({ slice, pick }: { slice: TensorSlice; pick: (cell: number[]) => void }) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const rows = slice.grid.length;
  const columns = slice.grid[0]?.length ?? 0;
  useEffect(() => {
    const context = canvas.current?.getContext("2d");
    if (!context || rows === 0 || columns === 0) return;
    const image = context.createImageData(columns, rows);
    slice.grid.forEach((row, y) => {
      row.forEach((value, x) => {
        image.data.set(heat(value, slice.low, slice.high), 4 * (y * columns + x));
      });
    });
    context.putImageData(image, 0, 0);
  }, [slice]);
  const size = Math.max(rows, columns, 1);
  return (
    <canvas
      ref={canvas}
      class="tx-heat-map"
      width={columns}
      height={rows}
      role="img"
      aria-label={`Heat map of ${slice.axes.join(" by ")}`}
      style={{
        width: `${Math.max((SIDE * columns) / size, 12)}px`,
        height: `${Math.max((SIDE * rows) / size, 12)}px`,
      }}
      onClick={(event) => {
        const box = event.currentTarget.getBoundingClientRect();
        const [step = 1, across = 1] = slice.steps;
        const row = Math.floor(((event.clientY - box.top) / box.height) * rows) * step;
        const column = Math.floor(((event.clientX - box.left) / box.width) * columns) * across;
        pick([row, column]);
      }}
    />
  );
}

function Near({ slice }: { slice: TensorSlice }) {
  const [top = 0, left = 0] = slice.starts;
  const [row = 0, column = 0] = slice.cell;
  return (
    <div class="tx-near">
      <table class="tx-table" data-testid="near">
        <thead>
          <tr>
            <th />
            {slice.near[0]?.map((_, at) => (
              <th key={at}>{left + at}</th>
            ))}
          </tr>
        </thead>
        <tbody>
          {slice.near.map((cells, y) => (
            <tr key={y}>
              <th>{top + y}</th>
              {cells.map((text, x) => (
                <td
                  key={x}
                  class={`tx-number${top + y === row && left + x === column ? " tx-near-here" : ""}`}
                >
                  {text}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
