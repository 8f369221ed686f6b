/** The roofline of a device: which ops its memory bounds, and an estimate of time. */

import { useMemo, useState } from "preact/hooks";
import { type CostAt, type CostModel, type Device, estimate } from "../../cost";
import { capped, countText, durationText, shareText } from "../../format";
import { ensure } from "../../maps";
import type { NodeId } from "../../program";
import type { Store } from "../../store";

interface Props {
  store: Store;
  model: CostModel;
  at: CostAt;
}

const WIDTH = 400;
const HEIGHT = 150;
/** The radius of a dot that stands for all FLOPs. */
const LARGEST = 10;
const EDGE = 4;
const MOST_POINTS = 60;
/** Decades of FLOPs per byte, and of FLOP/s below the device's. */
const [LEAST_X, MOST_X, DECADES] = [-2, 4, 5];
const TERA = 1e12;
/** Intensities of a decade that are told apart. */
const STEPS = 200;

export function Roofline({ store, model, at }: Props) {
  const [chosen, setChosen] = useState(0);
  const [typed, setTyped] = useState<Device>({ flops: 10 * TERA, bandwidth: 0.2 * TERA });
  const device = model.table.devices[chosen] ?? typed;
  const { time, bound } = useMemo(() => estimate(at, device), [at, device]);
  const { profile } = model.program.record;
  return (
    <section aria-label="Roofline" data-testid="cost-roofline">
      <h3 class="tx-pane-title">Roofline</h3>
      <div class="tx-filters">
        <label>
          Device{" "}
          <select
            class="tx-input"
            value={chosen}
            onChange={(event) => setChosen(Number(event.currentTarget.value))}
          >
            {model.table.devices.map(({ name }, number) => (
              <option key={name} value={number}>
                {name}
              </option>
            ))}
            <option value={-1}>typed</option>
          </select>
        </label>
        {chosen < 0 && <Typed device={typed} change={setTyped} />}
      </div>
      <p class="tx-lead">
        Estimate: {durationText(time)} at {countText(device.flops)}FLOP/s and{" "}
        {countText(device.bandwidth)}B/s, no measurement; {shareText(bound)} of it bound by memory.
        {profile &&
          ` Measured on ${profile.device}: ${durationText(profile.total / 1e6)}, ${profile.inputs}.`}
      </p>
      <Plot store={store} model={model} at={at} device={device} />
    </section>
  );
}

function Typed({ device, change }: { device: Device; change: (device: Device) => void }) {
  const box = (name: string, key: keyof Device) => (
    <label>
      <input
        type="number"
        class="tx-input tx-box"
        min={0.001}
        step="any"
        value={device[key] / TERA}
        onInput={(event) => {
          const next = event.currentTarget.valueAsNumber;
          if (next > 0) change({ ...device, [key]: next * TERA });
        }}
      />{" "}
      {name}
    </label>
  );
  return (
    <>
      {box("TFLOP/s", "flops")}
      {box("TB/s", "bandwidth")}
    </>
  );
}

/** Each kind of op by its FLOPs per byte and the FLOP/s that the device reaches there at best. */
function Plot({ store, model, at, device }: Props & { device: Device }) {
  const points = useMemo(() => pointsOf(model, at), [model, at]);
  const top = Math.log10(device.flops);
  const x = (intensity: number): number =>
    EDGE + ((Math.log10(intensity) - LEAST_X) / (MOST_X - LEAST_X)) * (WIDTH - 2 * EDGE);
  const y = (rate: number): number =>
    EDGE + ((top - Math.log10(rate)) / DECADES) * (HEIGHT - 2 * EDGE);
  const reached = (intensity: number): number =>
    Math.min(device.flops, intensity * device.bandwidth);
  const ridge = device.flops / device.bandwidth;
  const [from, to] = [10 ** LEAST_X, 10 ** MOST_X];
  const lit = store.lit.value.nodes;
  return (
    <svg
      class="tx-roofline"
      viewBox={`0 -${LARGEST} ${WIDTH} ${HEIGHT + LARGEST}`}
      role="img"
      aria-label={`Ops by FLOPs per byte; those below ${countText(ridge)} are memory-bound`}
    >
      <path
        d={`M${x(from)} ${y(reached(from))}L${x(ridge)} ${y(device.flops)}L${x(to)} ${y(device.flops)}`}
      />
      {points.map(({ name, nodes, intensity, share }) => {
        const within = Math.min(Math.max(intensity, from), to);
        return (
          <circle
            key={`${name} ${intensity}`}
            class={nodes.some((node) => lit.has(node)) ? "tx-roofline-lit" : ""}
            cx={x(within)}
            cy={y(reached(within))}
            r={2 + (LARGEST - 2) * Math.sqrt(share)}
          >
            <title>
              {capped(name, 100)} ×{nodes.length}: {countText(intensity)} FLOPs per byte
            </title>
          </circle>
        );
      })}
      <text x={WIDTH - EDGE} y={HEIGHT - EDGE} text-anchor="end">
        FLOPs per byte, 0.01 to 10,000; ridge at {countText(ridge)}
      </text>
    </svg>
  );
}

interface Point {
  name: string;
  nodes: NodeId[];
  intensity: number;
  share: number;
}

/** The kinds of op with the most FLOPs, those of one intensity together. */
function pointsOf(model: CostModel, { flops, moved, totalFlops }: CostAt): Point[] {
  const points = new Map<string, Map<number, Point>>();
  for (let place = 0; place < model.nodes.length; place++) {
    const [count, bytes] = [Number(flops[place]), Number(moved[place])];
    const node = model.nodes[place];
    if (count <= 0 || bytes <= 0 || node === undefined) continue;
    const kind = model.program.target(node)?.name ?? "";
    const intensity = count / bytes;
    const near = ensure(points, kind, () => new Map<number, Point>());
    const point = ensure(near, Math.round(Math.log10(intensity) * STEPS), () => {
      return { name: kind, nodes: [], intensity, share: 0 };
    });
    point.nodes.push(node);
    point.share += count / totalFlops;
  }
  const all = [...points.values()].flatMap((near) => [...near.values()]);
  return all.sort((one, other) => other.share - one.share).slice(0, MOST_POINTS);
}
