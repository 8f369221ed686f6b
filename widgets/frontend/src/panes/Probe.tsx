/** Try sizes: whether the program takes them, which rule refuses, and what sizes come out. */

import { useState } from "preact/hooks";
import { capped, symbolColour } from "../format";
import { sizesIn } from "../formula";
import { exampleSizes, type ProbeResult, probeSizes, symbolValue, withSymbol } from "../probe";
import type { Program } from "../program";
import type { Rule, Symbol as ShapeSymbol, SizeInput } from "../record.gen";
import type { Store } from "../store";
import { LineLink } from "./LineLink";
import { More } from "./parts";

interface Props {
  store: Store;
  program: Program;
}

/** How far a slider goes beyond what is allowed, so that the edge can be seen. */
const BEYOND = 3;
const FEW_RULES = 3;
const MOST_INPUTS = 12;

export function Probe({ store, program }: Props) {
  const { probe } = program.record;
  const [sizes, setSizes] = useState<readonly number[]>(() => exampleSizes(probe));
  if (probe.inputs.length === 0) return null;
  const result = probeSizes(probe, sizes);
  const bad = new Set(result.broken.flatMap((rule) => [...sizesIn(rule.formula)]));
  const symbols = [...new Set(probe.inputs.map((input) => input.symbol))].filter((n) => n >= 0);
  const moved = probe.inputs.some((input, number) => sizes[number] !== input.example);
  const put = (number: number, size: number): void =>
    setSizes(sizes.map((old, at) => (at === number ? size : old)));
  return (
    <section class="tx-probe" aria-label="Try sizes" data-testid="probe">
      <div class="tx-probe-head">
        <h3 class="tx-pane-title">Try sizes</h3>
        {moved && (
          <button type="button" class="tx-button" onClick={() => setSizes(exampleSizes(probe))}>
            Back to the example
          </button>
        )}
      </div>
      {symbols.map((number) => {
        const symbol = program.record.symbols[number];
        const value = symbolValue(probe, sizes, number);
        if (!symbol || value === null) return null;
        return (
          <Slider
            key={number}
            number={number}
            symbol={symbol}
            value={value}
            bad={probe.inputs.some((input, at) => input.symbol === number && bad.has(at))}
            change={(next) => setSizes(withSymbol(probe, sizes, number, next))}
          />
        );
      })}
      <Boxes program={program} inputs={probe.inputs} sizes={sizes} bad={bad} put={put} />
      <Verdict store={store} program={program} result={result} />
    </section>
  );
}

interface SliderProps {
  number: number;
  symbol: ShapeSymbol;
  value: number;
  /** Whether some rule about it is broken. */
  bad: boolean;
  change: (value: number) => void;
}

function Slider({ number, symbol, value, bad, change }: SliderProps) {
  const example = symbol.example ?? 4;
  const least = Math.max(0, (symbol.lower ?? 0) - BEYOND);
  const most = (symbol.upper ?? Math.max(4 * example, 32)) + BEYOND;
  return (
    <label class={bad ? "tx-slider tx-slider-bad" : "tx-slider"}>
      <b class="tx-mono" style={{ color: symbolColour(number) }}>
        {capped(symbol.name, 60)}
      </b>
      <input
        type="range"
        min={least}
        max={Math.max(most, value)}
        value={value}
        data-testid={`probe-slider-${number}`}
        aria-label={`Size ${capped(symbol.name, 60)}`}
        onInput={(event) => change(Number(event.currentTarget.value))}
      />
      <output class="tx-number">{value}</output>
    </label>
  );
}

interface BoxesProps {
  program: Program;
  inputs: readonly SizeInput[];
  sizes: readonly number[];
  bad: ReadonlySet<number>;
  put: (number: number, size: number) => void;
}

/** Per input, a box for each of its sizes. */
function Boxes({ program, inputs, sizes, bad, put }: BoxesProps) {
  const entries = [...new Set(inputs.map((input) => input.entry))];
  return (
    <div class="tx-boxes">
      <More items={entries} few={MOST_INPUTS}>
        {(entry) => (
          <div key={entry} class="tx-boxes-row">
            <code>{capped(program.record.signature.inputs[entry]?.path ?? "?", 60)}</code>
            <span class="tx-boxes-sizes">
              {inputs.map((input, number) =>
                input.entry === entry ? (
                  <input
                    key={number}
                    type="number"
                    class="tx-input tx-box"
                    min={0}
                    value={sizes[number]}
                    aria-label={input.text}
                    aria-invalid={bad.has(number)}
                    title={
                      typeof input.size === "string"
                        ? `${input.text} = ${input.size}`
                        : `${input.text} is fixed`
                    }
                    data-testid={`probe-size-${number}`}
                    onInput={(event) => {
                      const size = event.currentTarget.valueAsNumber;
                      if (Number.isInteger(size)) put(number, size);
                    }}
                  />
                ) : null,
              )}
            </span>
          </div>
        )}
      </More>
    </div>
  );
}

function Verdict({ store, program, result }: Props & { result: ProbeResult }) {
  const { verdict, broken, unknown } = result;
  return (
    <div class={`tx-judged tx-judged-${verdict}`} role="status" data-testid="probe-verdict">
      {verdict === "accepted" && (
        <p>
          <strong>Accepted.</strong> <Outputs program={program} result={result} />
        </p>
      )}
      {verdict === "refused" && <strong>Refused</strong>}
      {verdict === "unchecked" && (
        <p>
          <strong>Not checked.</strong> The program lets it through, but it is outside of the
          contract: nothing is promised of what it gives.
        </p>
      )}
      {broken.length > 0 && (
        <ul>
          <More items={broken} few={FEW_RULES}>
            {(rule, index) => (
              <li key={index}>
                <code>{capped(rule.text, 200)}</code> <RuleLine {...{ store, program, rule }} />
              </li>
            )}
          </More>
        </ul>
      )}
      {unknown.length > 0 && (
        <p class="tx-lead">{unknown.length} of the rules can be checked only by calling it.</p>
      )}
    </div>
  );
}

function RuleLine({ store, program, rule }: Props & { rule: Rule }) {
  const guard = program.record.guards[rule.guard];
  const why = { fixed: "fixed", equal: "the same size", form: "made from another", range: "" };
  return (
    <>
      {rule.kind !== "guard" && <span class="tx-lead">{why[rule.kind]} </span>}
      <LineLink store={store} program={program} stack={guard ? guard.stack : rule.stack} />
    </>
  );
}

/** `output 0: [8, 32]`, with `?` for a size that depends on values. */
function Outputs({ program, result }: { program: Program; result: ProbeResult }) {
  const { outputs } = program.record.probe;
  const byEntry = new Map<number, (number | null)[]>();
  outputs.forEach((output, index) => {
    const sizes = byEntry.get(output.entry) ?? [];
    byEntry.set(output.entry, [...sizes, result.outputs[index] ?? null]);
  });
  const shown = [...byEntry].slice(0, 4).map(([entry, sizes]) => {
    const path = program.record.signature.outputs[entry]?.path;
    return `${path ? capped(path, 40) : "result"}: [${sizes.map((each) => each ?? "?").join(", ")}]`;
  });
  return <span class="tx-mono">{shown.join("  ")}</span>;
}
