/** The Shapes & guards pane: sizes that vary with their ranges, and what tracing relied on. */

import { capped, rangeText, symbolColour } from "../format";
import type { Program } from "../program";
import type { Guard, Symbol as ShapeSymbol } from "../record.gen";
import type { Lit, Store } from "../store";
import { bestFrame } from "./calls";
import { Empty, More, pressable } from "./parts";
import { SizeText } from "./TypeText";

const FEW_PLACES = 4;

interface Props {
  store: Store;
  program: Program;
}

export function Shapes({ store, program }: Props) {
  const { symbols, guards, mode } = program.record;
  return (
    <section class="tx-panel" aria-label="Shapes and guards" data-testid="shapes" data-pane>
      <div class="tx-scroll">
        {symbols.length === 0 ? (
          <Empty>
            Every size is fixed. To let one vary, name it:{" "}
            <code>%export -d "x: batch, _" model(x)</code>
          </Empty>
        ) : (
          <Symbols store={store} program={program} />
        )}
        {guards.length > 0 && <Guards store={store} program={program} />}
        {guards.length === 0 && symbols.length > 0 && (
          <p class="tx-lead">
            {mode === "loaded"
              ? "A saved program does not keep its guards and their lines."
              : "No guards: nothing in the code asked about these sizes."}
          </p>
        )}
      </div>
    </section>
  );
}

function Symbols({ store, program }: Props) {
  return (
    <table class="tx-table">
      <caption>Sizes that vary</caption>
      <thead>
        <tr>
          <th>Name</th>
          <th>Range</th>
          <th class="tx-number">Example</th>
          <th>Stands in</th>
        </tr>
      </thead>
      <tbody>
        {program.record.symbols.map((symbol, index) => (
          <tr
            key={symbol.torch_name}
            class={store.lit.value.symbols.has(index) ? "tx-pressable tx-lit" : "tx-pressable"}
            {...pressable(() => store.select({ kind: "symbol", symbol: index }, "shapes"))}
          >
            <td title={`torch calls it ${symbol.torch_name}`}>
              <span class="tx-swatch" style={{ background: symbolColour(index) }} />
              <b class="tx-mono" style={{ color: symbolColour(index) }}>
                {capped(symbol.name, 120)}
              </b>
              {symbol.kind === "unbacked" && (
                <span class="tx-tag" title="Known only when the program runs">
                  from data
                </span>
              )}
            </td>
            <td class="tx-range">{rangeText(symbol)}</td>
            <td class="tx-number">{symbol.example ?? "—"}</td>
            <td class="tx-mono">
              <Places program={program} symbol={symbol} />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function Places({ program, symbol }: { program: Program; symbol: ShapeSymbol }) {
  if (symbol.places.length === 0) return <span class="tx-lead">values in between only</span>;
  return (
    <More items={symbol.places} few={FEW_PLACES}>
      {(place, index) => (
        <div key={index}>
          {capped(place.text, 120)}
          {place.size !== symbol.name && (
            <>
              {" = "}
              <SizeText program={program} size={place.size} />
            </>
          )}
        </div>
      )}
    </More>
  );
}

function Guards({ store, program }: Props) {
  return (
    <table class="tx-table">
      <caption>What the code relied on</caption>
      <thead>
        <tr>
          <th>Condition</th>
          <th>Asked at</th>
        </tr>
      </thead>
      <tbody>
        {program.record.guards.map((guard, index) => (
          <GuardRow key={index} store={store} program={program} guard={guard} />
        ))}
      </tbody>
    </table>
  );
}

function GuardRow({ store, program, guard }: Props & { guard: Guard }) {
  const frame = bestFrame(program, program.stackAt(guard.stack));
  const file = frame && program.record.files[frame.file];
  const classes = [
    frame ? "tx-pressable" : "",
    concerns(program, guard, store.lit.value) ? "tx-lit" : "",
  ];
  return (
    <tr
      class={classes.join(" ").trim()}
      {...(frame ? pressable(() => store.goTo(frame.file, frame.line)) : {})}
    >
      <td title={capped(`torch: ${guard.torch_text}`)}>
        <span class="tx-mono">
          <GuardText program={program} guard={guard} />
        </span>
        {guard.count > 1 && (
          <span class="tx-lead" title={`Asked ${guard.count} times`}>
            {" "}
            ×{guard.count}
          </span>
        )}
        {guard.kind === "runtime_assert" && (
          <span class="tx-tag" title="The program checks it each time it runs">
            at run time
          </span>
        )}
      </td>
      <td class="tx-mono">
        {file ? capped(`${file.name}:${frame.line}`, 120) : <span class="tx-lead">—</span>}
      </td>
    </tr>
  );
}

function GuardText({ program, guard }: { program: Program; guard: Guard }) {
  return (
    <>
      {program.pieces(capped(guard.text, 400), guard.symbols).map(({ text, symbol }, index) => (
        <span key={index} style={symbol < 0 ? undefined : { color: symbolColour(symbol) }}>
          {text}
        </span>
      ))}
    </>
  );
}

/** Whether a guard is about what is selected: its line, or a size of it. */
function concerns(program: Program, guard: Guard, { lines, symbols }: Lit): boolean {
  if (guard.symbols.some((symbol) => symbols.has(symbol))) return true;
  return program.stackAt(guard.stack).some(({ file, line }) => lines.get(file)?.has(line));
}
