/** The Shapes & guards pane: symbols with their ranges, and what tracing relied on. */

import { capped, rangeText, symbolColour } from "../format";
import type { Program } from "../program";
import type { Store } from "../store";
import { Empty, pressable } from "./parts";

const MOST_PLACES = 6;

export function Shapes({ store, program }: { store: Store; program: Program }) {
  const { symbols, guards } = program.record;
  return (
    <section class="tx-scroll" aria-label="Shapes and guards" data-testid="shapes">
      {symbols.length === 0 ? (
        <Empty>
          Every size is fixed. To let one vary, name it:{" "}
          <span class="tx-mono">%export -d "x: batch, _" model(x)</span>
        </Empty>
      ) : (
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
            {symbols.map((symbol, index) => (
              <tr
                key={symbol.torch_name}
                class={store.lit.value.symbols.has(index) ? "tx-lit" : ""}
                {...pressable(() => store.select({ kind: "symbol", symbol: index }, "shapes"))}
              >
                <td title={`torch calls it ${symbol.torch_name}`}>
                  <span class="tx-swatch" style={{ background: symbolColour(index) }} />
                  <b class="tx-mono">{capped(symbol.name, 120)}</b>
                  {symbol.kind === "unbacked" && <span class="tx-tag"> from data</span>}
                </td>
                <td class="tx-range">{rangeText(symbol)}</td>
                <td class="tx-number">{symbol.example ?? "—"}</td>
                <td class="tx-mono">
                  {symbol.places.slice(0, MOST_PLACES).map((place) => (
                    <div key={`${place.io}${place.text}`}>
                      {capped(place.text, 120)}
                      {place.size !== symbol.name && ` = ${capped(place.size, 120)}`}
                    </div>
                  ))}
                  {symbol.places.length > MOST_PLACES && (
                    <span class="tx-lead">… {symbol.places.length - MOST_PLACES} more</span>
                  )}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      {guards.length > 0 && <Guards store={store} program={program} />}
      {guards.length === 0 && symbols.length > 0 && (
        <p class="tx-lead" style={{ marginTop: "16px" }}>
          {program.record.mode === "loaded"
            ? "A saved program does not keep the guards with their lines."
            : "No guard: nothing in the code asked about these sizes."}
        </p>
      )}
    </section>
  );
}

function Guards({ store, program }: { store: Store; program: Program }) {
  return (
    <table class="tx-table" style={{ marginTop: "16px" }}>
      <caption>What the code asked about them</caption>
      <thead>
        <tr>
          <th>Condition</th>
          <th>Line</th>
        </tr>
      </thead>
      <tbody>
        {program.record.guards.map((guard, index) => {
          const frame = program.stackAt(guard.stack).at(-1);
          const file = frame && program.record.files[frame.file];
          return (
            <tr key={index} {...pressable(() => frame && store.goTo(frame.file, frame.line))}>
              <td title={capped(`torch: ${guard.torch_text}`)}>
                <span class="tx-mono">{capped(guard.text, 300)}</span>
                {guard.count > 1 && <span class="tx-lead"> ×{guard.count}</span>}
                {guard.kind === "runtime_assert" && <span class="tx-tag">checked at run time</span>}
              </td>
              <td class="tx-mono">{file ? capped(`${file.name}:${frame.line}`, 120) : "—"}</td>
            </tr>
          );
        })}
      </tbody>
    </table>
  );
}
