/** The dynamic sizes: name, range, the origin of each bound, and where they appear. */

import { capped, rangeText } from "../../format";
import type { Program } from "../../program";
import type { Bound, Symbol as ShapeSymbol } from "../../record.gen";
import type { Store } from "../../store";
import { symbolColour } from "../../symbol_colour";
import { LineLink } from "../parts/LineLink";
import { Dotted, More, RowButton } from "../parts/parts";
import { SizeText } from "../parts/TypeText";
import { Word } from "../parts/Word";

const FEW_PLACES = 4;

interface Props {
  store: Store;
  program: Program;
}

export function SymbolTable({ store, program }: Props) {
  return (
    <table class="tx-table tx-symbols">
      <caption>Dynamic sizes</caption>
      <thead>
        <tr>
          <th>Name</th>
          <th>Range</th>
          <th>Appears in</th>
        </tr>
      </thead>
      <tbody>
        {program.record.symbols.map((symbol, index) => (
          <tr
            key={symbol.torch_name}
            data-testid={`symbol-${index}`}
            class={store.lit.value.symbols.has(index) ? "tx-pressable tx-lit" : "tx-pressable"}
            onClick={() => store.select({ kind: "symbol", symbol: index }, "shapes")}
          >
            <td class="tx-symbol-cell" title={`torch calls it ${symbol.torch_name}`}>
              <span class="tx-swatch" style={{ background: symbolColour(index) }} />
              <RowButton>
                <b class="tx-mono tx-symbol-name" style={{ color: symbolColour(index) }}>
                  {capped(symbol.name, 120)}
                </b>
              </RowButton>
              {symbol.kind === "unbacked" && (
                <Word
                  cls="tx-tag"
                  word={
                    symbol.places.some((place) => place.io === "input")
                      ? "unbacked"
                      : "data-dependent"
                  }
                />
              )}
              {symbol.kind === "unbacked" && (
                <div>
                  <LineLink store={store} program={program} stack={symbol.stack} />
                </div>
              )}
            </td>
            <td>
              <span class="tx-range">{rangeText(symbol)}</span>
              {symbol.example !== null && (
                <span class="tx-lead"> {symbol.example} in the example</span>
              )}
              {symbol.bounds.map((bound) => (
                <Origin key={bound.side} store={store} program={program} bound={bound} />
              ))}
            </td>
            <td class="tx-mono">
              <Places program={program} symbol={symbol} />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** Where one end of a range comes from: a Dim, a guard with its line, or torch itself. */
function Origin({ store, program, bound }: Props & { bound: Bound }) {
  const sign = bound.side === "lower" ? "≥" : "≤";
  const guard = program.record.guards[bound.guard];
  const assumed = bound.origin === "default";
  return (
    <div class={assumed ? "tx-origin tx-lead" : "tx-origin"} title={capped(bound.text)}>
      {sign} {bound.value}:{" "}
      {guard ? (
        <>
          <code>{capped(guard.text, 120)}</code>{" "}
          <LineLink store={store} program={program} stack={guard.stack} />
        </>
      ) : (
        capped(bound.origin === "dim" ? "from dynamic_shapes" : bound.text, 160)
      )}
    </div>
  );
}

function Places({ program, symbol }: { program: Program; symbol: ShapeSymbol }) {
  if (symbol.places.length === 0) return <span class="tx-lead">only values in between</span>;
  return (
    <More items={symbol.places} few={FEW_PLACES}>
      {(place, index) => (
        <div key={index} class="tx-place">
          <Dotted name={place.text} />
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
