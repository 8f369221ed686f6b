/** The cost of the program at chosen sizes: totals, a ranking, live memory, a roofline. */

import { useMemo, useState } from "preact/hooks";
import type { CostAt, CostModel } from "../../cost";
import { COLOURINGS } from "../../decorations/cost";
import { bytesText, capped, counted, countText, grouped, shareText } from "../../format";
import type { GroupBy, Total } from "../../profile";
import type { Program } from "../../program";
import type { Store } from "../../store";
import { DearestLine } from "../parts/DearestLine";
import { Empty, Fact, More, RowButton, Waiting } from "../parts/parts";
import { useAnswer } from "../parts/useAnswer";
import { SymbolSize } from "../shapes/Probe";
import { Fits } from "./Fits";
import { Memory } from "./Memory";
import { Roofline } from "./Roofline";

interface Props {
  store: Store;
  program: Program;
}

const FEW = 8;
const FEW_SYMBOLS = 6;
/** The end of a slider if nothing bounds the size. */
const FARTHEST = 4096;
const GROUPS: [GroupBy, string][] = [
  ["op", "kinds of op"],
  ["node", "single ops"],
  ["scope", "modules"],
  ["line", "your lines"],
];

export function Cost({ store, program }: Props) {
  const failed = program.record.outcome === "failed";
  const answer = useAnswer(
    () => (failed ? Promise.reject(new Error("No program: the export failed.")) : store.askCost()),
    [program],
  );
  const model = store.costModel.value;
  return (
    <section class="tx-panel" aria-label="Cost" data-testid="cost" data-pane>
      <div class="tx-scroll">
        {model?.program === program ? (
          <Known store={store} model={model} at={store.costAt.value} />
        ) : answer.kind === "refused" ? (
          <Empty>{answer.why}</Empty>
        ) : (
          <Waiting what="the cost" slow={answer.kind === "waiting" && answer.slow} />
        )}
      </div>
    </section>
  );
}

interface KnownProps {
  store: Store;
  model: CostModel;
  at: CostAt | null;
}

function Known({ store, model, at }: KnownProps) {
  return (
    <>
      <Sizes store={store} program={model.program} />
      {at ? (
        <>
          <Totals model={model} at={at} />
          <Ranking store={store} model={model} at={at} />
          <Memory store={store} model={model} at={at} />
          <Fits store={store} model={model} />
          <Roofline store={store} model={model} at={at} />
        </>
      ) : (
        <Empty>A size is not defined at these values.</Empty>
      )}
    </>
  );
}

/** A slider for each named size. */
function Sizes({ store, program }: Props) {
  const sizes = store.sizes.value;
  const { symbols } = program.record;
  const numbers = symbols.map((_, number) => number);
  if (numbers.length === 0) return <p class="tx-lead">Every size of this program is static.</p>;
  return (
    <div data-testid="cost-sizes">
      <More items={numbers} few={FEW_SYMBOLS}>
        {(number) => {
          const symbol = symbols[number];
          const value = sizes[number] ?? 1;
          if (!symbol) return null;
          const { lower, upper } = symbol;
          return (
            <SymbolSize
              key={number}
              number={number}
              symbol={symbol}
              value={value}
              bad={value < (lower ?? value) || value > (upper ?? value)}
              farthest={FARTHEST}
              change={(next) => store.trySize(number, next)}
            />
          );
        }}
      </More>
    </div>
  );
}

function Totals({ model, at }: { model: CostModel; at: CostAt }) {
  const { table } = model;
  return (
    <>
      <dl class="tx-facts" data-testid="cost-totals">
        <Fact name="FLOPs">
          {countText(at.totalFlops)}, {countText(at.totalFlops / (at.totalMoved || 1))} per byte
        </Fact>
        <Fact name="Bytes moved">{bytesText(at.totalMoved)}</Fact>
        <Fact name="Memory">
          {bytesText(at.total)}: weights {bytesText(table.weights)}, inputs {bytesText(at.inputs)},
          peak {bytesText(at.peakBytes)}
        </Fact>
        <Fact name="Parameters">{grouped(table.parameters)}</Fact>
      </dl>
      {table.unknown.length > 0 && <Unknown model={model} />}
    </>
  );
}

/** The ops that no formula counts. */
function Unknown({ model }: { model: CostModel }) {
  const names = new Map<string, number>();
  for (const place of model.table.unknown) {
    const node = model.nodes[place];
    const name = (node !== undefined && model.program.target(node)?.name) || "?";
    names.set(name, (names.get(name) ?? 0) + 1);
  }
  const text = [...names].map(([name, count]) => `${name} ×${count}`).join(", ");
  return (
    <p class="tx-lead" data-testid="cost-unknown">
      FLOPs unknown for {counted(model.table.unknown.length, "op")}: {capped(text, 300)}
    </p>
  );
}

function Ranking({ store, model, at }: { store: Store; model: CostModel; at: CostAt }) {
  const [by, setBy] = useState<GroupBy>("op");
  const shown = store.colouring.value;
  const other = shown && !Object.hasOwn(COLOURINGS, shown.name) ? shown : null;
  const name = shown?.name === "moved" ? "moved" : "flops";
  const amounts = at[name];
  const totals = useMemo(() => model.ranking(amounts, by), [model, amounts, by]);
  const lines = useMemo(() => model.ranking(amounts, "line"), [model, amounts]);
  const whole = name === "moved" ? at.totalMoved : at.totalFlops;
  return (
    <section aria-label="Ranking" data-testid="costs">
      <DearestLine store={store} program={model.program} lines={lines} whole={whole} />
      <div class="tx-filters">
        <label>
          Most of{" "}
          <select
            class="tx-input"
            value={by}
            data-testid="cost-by"
            onChange={(event) => setBy(event.currentTarget.value as GroupBy)}
          >
            {GROUPS.map(([value, text]) => (
              <option key={value} value={value}>
                {text}
              </option>
            ))}
          </select>
        </label>
        <label>
          Colour by{" "}
          <select
            class="tx-input"
            value={shown?.name ?? "none"}
            data-testid="cost-heat"
            onChange={(event) => store.colourBy(event.currentTarget.value)}
          >
            <option value="none">nothing</option>
            {other && <option value={other.name}>{capped(other.title, 40)}</option>}
            {Object.entries(COLOURINGS).map(([value, text]) => (
              <option key={value} value={value}>
                {text}
              </option>
            ))}
          </select>
        </label>
      </div>
      <table class="tx-table tx-histogram">
        <tbody>
          <More items={totals} few={FEW}>
            {(total) => (
              <Row
                key={total.name}
                store={store}
                total={total}
                text={name === "moved" ? bytesText(total.cost) : countText(total.cost)}
                share={total.cost / (whole || 1)}
              />
            )}
          </More>
        </tbody>
      </table>
    </section>
  );
}

interface RowProps {
  store: Store;
  total: Total;
  text: string;
  share: number;
}

/** A press selects the ops. */
function Row({ store, total, text, share }: RowProps) {
  return (
    <tr
      title={capped(`${total.name}: select its ops`)}
      class="tx-pressable"
      onClick={() => store.select({ kind: "nodes", nodes: total.nodes }, "cost")}
    >
      <td class="tx-mono tx-clip">
        <RowButton>{capped(total.name, 200)}</RowButton>
      </td>
      <td class="tx-number">{text}</td>
      <td class="tx-number">{shareText(share)}</td>
      <td class="tx-bar-cell">
        <div class="tx-bar tx-bar-heat" style={{ width: `${Math.min(100, 100 * share)}%` }} />
      </td>
    </tr>
  );
}
