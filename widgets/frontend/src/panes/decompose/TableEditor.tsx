/** A decomposition table to tick: the ops of the program first, then all that torch can decompose. */

import { useEffect, useState } from "preact/hooks";
import { capped } from "../../format";
import type { Program } from "../../program";
import type { Store } from "../../store";
import { Empty, More, Waiting } from "../parts/parts";
import { useAnswer } from "../parts/useAnswer";
import { decomposes, parseTable, printTable, toggled } from "./table_text";

export const PRESETS = [
  ["core", "Core ATen"],
  ["core -linear -conv2d -scaled_dot_product_attention", "Core, layers whole"],
  ["none", "None"],
] as const;

const FEW = 30;

interface Props {
  store: Store;
  program: Program;
  /** In the short language. */
  table: string;
  change: (table: string) => void;
  /** Called when the ops are there to choose from. */
  ready: () => void;
}

export function TableEditor({ store, program, table, change, ready }: Props) {
  const [query, setQuery] = useState("");
  const attempt = store.current.value;
  const answer = useAnswer(() => store.host.ask("decomposable", { attempt }), [store, attempt]);
  useEffect(() => {
    if (answer.kind === "there") ready();
  }, [answer.kind]);
  if (answer.kind === "waiting") return <Waiting what="the list of ops" slow={answer.slow} />;
  if (answer.kind === "refused") return <Empty>{capped(answer.why)}</Empty>;
  const parsed = parseTable(table);
  const counts = countsOf(program);
  const found = answer.value.ops
    .filter((op) => op.includes(query.trim()))
    .sort((a, b) => Number(counts.has(b)) - Number(counts.has(a)));
  return (
    <div class="tx-table-editor" data-testid="table-editor">
      <div class="tx-filters">
        {PRESETS.map(([value, name]) => (
          <button
            key={value}
            type="button"
            class="tx-button"
            aria-pressed={table === value}
            title={value}
            onClick={() => change(value)}
          >
            {name}
          </button>
        ))}
        <input
          type="search"
          class="tx-input"
          aria-label="Search the ops"
          placeholder="Search the ops"
          value={query}
          onInput={(event) => setQuery(event.currentTarget.value)}
        />
      </div>
      {!parsed && <Empty>Not a valid decomposition table; choose a preset to start from.</Empty>}
      {parsed && found.length === 0 && (
        <Empty>torch has no decomposition for an op of this name.</Empty>
      )}
      {parsed && (
        <ul class="tx-ticks">
          <More key={query} items={found} few={FEW}>
            {(op) => (
              <li key={op}>
                <label>
                  <input
                    type="checkbox"
                    checked={decomposes(parsed, op)}
                    onChange={() => change(printTable(toggled(parsed, op)))}
                  />{" "}
                  <span class="tx-mono">{capped(op, 120)}</span>
                  {counts.has(op) && <span class="tx-lead"> ×{counts.get(op)} here</span>}
                </label>
              </li>
            )}
          </More>
        </ul>
      )}
    </div>
  );
}

/** How often each op is called in the program. */
function countsOf(program: Program): Map<string, number> {
  const counts = new Map<string, number>();
  for (const id of program.allNodes()) {
    const name = program.target(id)?.name;
    if (name) counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  return counts;
}
