/** Running the program: what by, on which device, at which sizes; and what came of it. */

import { useMemo, useRef, useState } from "preact/hooks";
import { bytesText, capped, durationText, symbolColour } from "../format";
import type { Setups } from "../host";
import { exampleSizes, symbolValue } from "../probe";
import type { Program } from "../program";
import type { RunRow, RunTimes } from "../record.gen";
import type { Store } from "../store";
import { Costs } from "./Costs";
import { Empty, LongText, Prose, Sentence } from "./parts";
import { SizeBox } from "./SizeBox";
import { useAnswer } from "./useAnswer";
import { useFresh } from "./useFresh";

interface Props {
  store: Store;
  program: Program;
}

export function Runs({ store, program }: Props) {
  const { profile, runs } = program.record;
  const pane = useRef<HTMLDivElement>(null);
  const groups = groupsOf(runs);
  useFresh(
    pane,
    useMemo(() => resultsOf(program), [program]),
  );
  return (
    <section class="tx-panel" aria-label="Runs" data-testid="runs" data-pane>
      <div ref={pane} class="tx-scroll">
        {store.host.live && <Form store={store} program={program} />}
        {groups.map(([title, rows]) => (
          <Table key={title} store={store} program={program} title={title} rows={rows} />
        ))}
        {profile && <Costs store={store} program={program} profile={profile} />}
        {runs.length === 0 && !profile && (
          <Empty>
            Not run yet. Run calls the program by what you choose and holds its outputs, its time
            and its memory against the eager model. Profile measures each op and colours the graph
            by it. The model stays where and as it is.
          </Empty>
        )}
      </div>
    </section>
  );
}

/** Each table of runs and the profile, as texts that change with them. */
function resultsOf({ record: { profile, runs } }: Program): Map<string, string> {
  const results = groupsOf(runs).map(([title, rows]) => [title, JSON.stringify(rows)] as const);
  if (!profile) return new Map(results);
  return new Map([...results, ["profile", profile.microseconds.join()]]);
}

function Form({ store, program }: Props) {
  const answer = useAnswer(() => store.setups(), [store]);
  if (answer.kind === "waiting") return <Empty>Asking what can run here…</Empty>;
  if (answer.kind === "refused") return <Empty>{answer.why}</Empty>;
  return <Choices store={store} program={program} setups={answer.value} />;
}

/** Chosen at first, where they can run: they start at once. */
const QUICK: readonly string[] = ["eager", "program"];

function Choices({ store, program, setups }: Props & { setups: Setups }) {
  const [device, setDevice] = useState(setups.devices[0] ?? "cpu");
  const [names, setNames] = useState<readonly string[]>(QUICK);
  const [sizes, setSizes] = useState<{ [symbol: string]: number }>({});
  const at = Math.max(setups.devices.indexOf(device), 0);
  const able = setups.backends.filter((each) => each.missing[at] === null);
  const lacking = setups.backends.filter((each) => each.missing[at] !== null);
  const chosen = able.filter((each) => names.includes(each.name)).map((each) => each.name);
  const busy = store.working.value !== null;
  const asked = Object.keys(sizes).length > 0 ? sizes : null;
  return (
    <form
      class="tx-run-form"
      onSubmit={(event) => {
        event.preventDefault();
        if (!busy && chosen.length > 0) void store.run(device, chosen, asked);
      }}
    >
      <fieldset class="tx-run-backends">
        <legend class="tx-hidden">Run by</legend>
        {able.map((each) => (
          <label key={each.name}>
            <input
              type="checkbox"
              checked={names.includes(each.name)}
              data-testid={`backend-${each.name}`}
              onChange={(event) =>
                setNames(
                  event.currentTarget.checked
                    ? [...names, each.name]
                    : names.filter((name) => name !== each.name),
                )
              }
            />{" "}
            {capped(each.title, 60)}
          </label>
        ))}
      </fieldset>
      <div class="tx-filters">
        {setups.devices.length > 1 && (
          <select
            class="tx-input"
            aria-label="Device"
            value={device}
            onChange={(event) => setDevice(event.currentTarget.value)}
          >
            {setups.devices.map((each) => (
              <option key={each} value={each}>
                {each}
              </option>
            ))}
          </select>
        )}
        <Symbols program={program} sizes={sizes} change={setSizes} />
        <button
          type="submit"
          class="tx-button tx-primary"
          disabled={busy || chosen.length === 0}
          data-testid="run"
        >
          Run
        </button>
        <button
          type="button"
          class="tx-button"
          disabled={busy}
          title="Measure what each op takes"
          data-testid="profile"
          onClick={() => void store.profile(device, asked)}
        >
          Profile
        </button>
      </div>
      {lacking.length > 0 && (
        <details>
          <summary>
            {lacking.length} more {lacking.length === 1 ? "backend" : "backends"} cannot run here
          </summary>
          <dl class="tx-facts">
            {lacking.map((each) => (
              <Lacking key={each.name} title={each.title} why={each.missing[at] ?? ""} />
            ))}
          </dl>
        </details>
      )}
    </form>
  );
}

function Lacking({ title, why }: { title: string; why: string }) {
  return (
    <>
      <dt>{capped(title, 60)}</dt>
      <dd>{capped(why, 300)}</dd>
    </>
  );
}

interface SymbolsProps {
  program: Program;
  sizes: { [symbol: string]: number };
  change: (sizes: { [symbol: string]: number }) => void;
}

const MOST_SYMBOLS = 8;

/** A box per symbol; where one is moved, fresh inputs of those sizes are made. */
function Symbols({ program, sizes, change }: SymbolsProps) {
  const { probe, symbols } = program.record;
  const numbers = [...new Set(probe.inputs.map((input) => input.symbol))].filter((n) => n >= 0);
  return (
    <>
      {numbers.slice(0, MOST_SYMBOLS).map((number) => {
        const name = symbols[number]?.name ?? "";
        const example = symbolValue(probe, exampleSizes(probe), number) ?? 1;
        return (
          <span key={name} class="tx-run-size">
            <b class="tx-mono" style={{ color: symbolColour(number) }}>
              {capped(name, 40)}
            </b>{" "}
            <SizeBox
              value={sizes[name] ?? example}
              label={`Value of ${name} to run at`}
              bad={false}
              least={0}
              testId={`run-size-${number}`}
              put={(size) => {
                const { [name]: _, ...others } = sizes;
                change(size === example ? others : { ...others, [name]: size });
              }}
            />
          </span>
        );
      })}
    </>
  );
}

/** Runs on one device with the same inputs, in the order they were first made. Pure. */
export function groupsOf(rows: readonly RunRow[]): [string, RunRow[]][] {
  const groups = new Map<string, RunRow[]>();
  for (const row of rows) {
    const title = `${row.device}, ${row.inputs}`;
    const group = groups.get(title);
    if (group) group.push(row);
    else groups.set(title, [row]);
  }
  return [...groups];
}

/** What others are held against: eager's time, else the program's. Pure. */
export function baseOf(rows: readonly RunRow[]): number | null {
  const timed = (name: string) => rows.find((row) => row.backend === name && row.times);
  return (timed("eager") ?? timed("program"))?.times?.median ?? null;
}

function Table({ store, program, title, rows }: Props & { title: string; rows: RunRow[] }) {
  const base = baseOf(rows);
  const most = Math.max(...rows.map((row) => row.times?.median ?? 0));
  return (
    <table class="tx-table tx-runs" data-result={title}>
      <caption>{capped(title, 200)}</caption>
      <thead>
        <tr>
          <th>Run by</th>
          <th class="tx-number">Warm call</th>
          <th class="tx-number">× eager</th>
          <th class="tx-number">Error</th>
        </tr>
      </thead>
      {rows.map((row) => (
        <tbody key={`${row.backend} ${row.where}`} data-testid={`run-${row.backend}`}>
          {row.times ? (
            <Timed row={row} times={row.times} base={base} />
          ) : (
            <tr>
              <td class="tx-run-name">
                <Name row={row} />
              </td>
              <td colSpan={3} class={row.outcome === "failed" ? "tx-run-bad" : "tx-lead"}>
                <Why row={row} />
              </td>
            </tr>
          )}
          {row.times && (
            <tr class="tx-run-more">
              <td colSpan={4}>
                <div class="tx-bar" style={{ width: `${(100 * row.times.median) / most}%` }} />
                <span title={capped(row.saved)}>{detailsOf(row, row.times)}</span>
                {row.outcome === "differs" && (
                  <p class="tx-run-bad">
                    <Sentence
                      store={store}
                      program={program}
                      text={row.sentence}
                      node={row.node}
                      origin="runs"
                    />
                  </p>
                )}
              </td>
            </tr>
          )}
        </tbody>
      ))}
    </table>
  );
}

const MARKS: { [outcome in RunRow["outcome"]]: string } = {
  agrees: "✓",
  differs: "✗",
  failed: "✗",
  unavailable: "–",
};

function Name({ row }: { row: RunRow }) {
  return (
    <>
      <span class={`tx-run-mark tx-run-${row.outcome}`} title={row.outcome} aria-hidden="true">
        {MARKS[row.outcome]}
      </span>
      <span class="tx-hidden">{row.outcome}: </span>
      {capped(row.title, 60)}
      {row.where && <span class="tx-lead"> on {capped(row.where, 40)}</span>}
    </>
  );
}

interface TimedProps {
  row: RunRow;
  times: RunTimes;
  base: number | null;
}

function Timed({ row, times, base }: TimedProps) {
  const faster = base !== null && times.median > 0 ? base / times.median : null;
  return (
    <tr class="tx-run-head">
      <td class="tx-run-name">
        <Name row={row} />
      </td>
      <td class="tx-number">{durationText(times.median)}</td>
      <td class="tx-number" title="How many times as fast as eager">
        {faster === null ? "" : faster.toFixed(2)}
      </td>
      <td class="tx-number" title={errorTitle(row)}>
        {row.error ? errorText(row.error.absolute) : "∞"}
      </td>
    </tr>
  );
}

function Why({ row }: { row: RunRow }) {
  if (!row.detail) return <Prose text={row.sentence} most={400} />;
  return (
    <details>
      <summary class="tx-run-summary">
        <Prose text={row.sentence} most={400} />
      </summary>
      <LongText name="What it says">{capped(row.detail, 4000)}</LongText>
    </details>
  );
}

const errorText = (error: number): string => (error === 0 ? "0" : error.toExponential(1));

function errorTitle({ error }: RunRow): string {
  if (!error) return "One is infinite where the other is not";
  return [
    `largest absolute error ${errorText(error.absolute)}`,
    `largest relative error ${errorText(error.relative)}`,
    `largest distance ${error.ulps} ulp`,
  ].join("\n");
}

/** `± 34 µs, first call 13 ms, compiled in 3.3 s, takes 20 kB, 1.6 MB on disk`. Pure. */
export function detailsOf(row: RunRow, times: RunTimes): string {
  const { memory, size } = row;
  const compiles = !QUICK.includes(row.backend);
  return [
    `± ${durationText(times.spread)}`,
    `first call ${durationText(times.first)}`,
    compiles && `compiled in ${durationText(times.prepare)}`,
    memory >= 0 && `takes ${bytesText(memory)}`,
    size >= 0 && `${bytesText(size)} on disk`,
  ]
    .filter(Boolean)
    .join(", ");
}
