/** What to run the program by, on which device and at which sizes. */

import { useState } from "preact/hooks";
import { capped } from "../../format";
import type { Setups } from "../../host";
import { exampleSizes, symbolValue } from "../../probe";
import type { Program } from "../../program";
import type { Store } from "../../store";
import { symbolColour } from "../../symbol_colour";
import { Expected } from "../parts/Expected";
import { Empty } from "../parts/parts";
import { SizeBox } from "../parts/SizeBox";
import { useAnswer } from "../parts/useAnswer";
import { QUICK } from "./run_facts";

interface Props {
  store: Store;
  program: Program;
}

export function RunForm({ store, program }: Props) {
  const answer = useAnswer(() => store.setups(), [store]);
  if (answer.kind === "waiting") return <Empty>Checking which backends can run here…</Empty>;
  if (answer.kind === "refused") return <Empty>{answer.why}</Empty>;
  return <Choices store={store} program={program} setups={answer.value} />;
}

function Choices({ store, program, setups }: Props & { setups: Setups }) {
  const [device, setDevice] = useState(setups.devices[0] ?? "cpu");
  // Chosen at first, where they can run.
  const [names, setNames] = useState<readonly string[]>(QUICK);
  const [sizes, setSizes] = useState<{ [symbol: string]: number }>({});
  const at = Math.max(setups.devices.indexOf(device), 0);
  const able = setups.backends.filter((each) => each.missing[at] === null);
  const lacking = setups.backends.filter((each) => each.missing[at] !== null);
  const chosen = able.filter((each) => names.includes(each.name)).map((each) => each.name);
  const busy = store.busy.value;
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
          title="Measure each op"
          data-testid="profile"
          onClick={() => void store.profile(device, asked)}
        >
          Profile
        </button>
      </div>
      <p class="tx-lead">
        Run:{" "}
        <Expected store={store} action="Running">
          {expected(chosen)}
        </Expected>{" "}
        · Profile:{" "}
        <Expected store={store} action="Profiling">
          times each op, a few seconds
        </Expected>{" "}
        · Stop at any time
      </p>
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

/** The first step of a run, and how long it takes. */
function expected(backends: readonly string[]): string {
  const quick = backends.every((each) => QUICK.includes(each));
  return quick ? "some calls of each, a few seconds" : "compiles first, tens of seconds";
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

/** A box per symbol; after a change, fresh inputs of those sizes are made. */
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
