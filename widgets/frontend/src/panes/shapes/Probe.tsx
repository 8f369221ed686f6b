/** Try sizes: whether the program accepts them, the rule that rejects them, and the output sizes. */

import { useState } from "preact/hooks";
import { exampleValues } from "../../cost";
import { capped } from "../../format";
import { sizesIn } from "../../formula";
import { exampleSizes, probeSizes, sliderRange, symbolValue, withSymbol } from "../../probe";
import type { Program } from "../../program";
import type { Symbol as ShapeSymbol, SizeInput } from "../../record.gen";
import type { Store } from "../../store";
import { symbolColour } from "../../symbol_colour";
import { More } from "../parts/parts";
import { SizeBox } from "../parts/SizeBox";
import { ProbeVerdict } from "./ProbeVerdict";

interface Props {
  store: Store;
  program: Program;
}

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
        {/* Always there, so that nothing moves and the focus is not lost when it is pressed. */}
        <button
          type="button"
          class="tx-button"
          aria-disabled={!moved}
          onClick={() => {
            setSizes(exampleSizes(probe));
            store.sizes.value = exampleValues(program);
          }}
        >
          Back to the example
        </button>
      </div>
      {symbols.map((number) => {
        const symbol = program.record.symbols[number];
        const value = symbolValue(probe, sizes, number);
        if (!symbol || value === null) return null;
        return (
          <SymbolSize
            key={number}
            number={number}
            symbol={symbol}
            value={value}
            bad={probe.inputs.some((input, at) => input.symbol === number && bad.has(at))}
            change={(next) => {
              setSizes(withSymbol(probe, sizes, number, next));
              store.trySize(number, next);
            }}
          />
        );
      })}
      <Boxes program={program} inputs={probe.inputs} sizes={sizes} bad={bad} put={put} />
      <ProbeVerdict store={store} program={program} result={result} sizes={sizes} />
    </section>
  );
}

interface SymbolSizeProps {
  number: number;
  symbol: ShapeSymbol;
  value: number;
  /** Whether some rule about it is broken. */
  bad: boolean;
  /** The least end of the slider if nothing bounds the size. */
  farthest?: number;
  change: (value: number) => void;
}

/** A slider and a box that move every size made from a symbol. */
export function SymbolSize({ number, symbol, value, bad, farthest, change }: SymbolSizeProps) {
  const { least, most } = sliderRange(symbol, value, farthest);
  const name = capped(symbol.name, 60);
  return (
    <div class={bad ? "tx-slider tx-slider-bad" : "tx-slider"}>
      <b class="tx-mono" style={{ color: symbolColour(number) }} title={name}>
        {name}
      </b>
      <input
        type="range"
        min={least}
        max={most}
        value={value}
        data-testid={`probe-slider-${number}`}
        aria-label={`Size ${name}`}
        aria-invalid={bad}
        onInput={(event) => change(Number(event.currentTarget.value))}
      />
      <SizeBox
        value={value}
        label={`Value of ${name}`}
        bad={bad}
        testId={`probe-symbol-${number}`}
        put={change}
      />
    </div>
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
        {(entry) => {
          const { path = "?", name = "?" } = program.record.signature.inputs[entry] ?? {};
          return (
            <div key={entry} class="tx-boxes-row">
              <code title={capped(path || name)}>{capped(path || name, 60)}</code>
              <span class="tx-boxes-sizes">
                {inputs.map((input, number) =>
                  input.entry === entry ? (
                    <SizeBox
                      key={number}
                      value={sizes[number] ?? input.example}
                      label={input.text}
                      title={meaning(input)}
                      bad={bad.has(number)}
                      {...(input.dim < 0 ? {} : { least: 0 })}
                      testId={`probe-size-${number}`}
                      put={(size) => put(number, size)}
                    />
                  ) : null,
                )}
              </span>
            </div>
          );
        }}
      </More>
    </div>
  );
}

function meaning(input: SizeInput): string {
  return typeof input.size === "string"
    ? `${input.text} = ${input.size}`
    : `${input.text} is fixed at ${input.size}`;
}
