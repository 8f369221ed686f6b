/** Which ops which backends can take, before anything is lowered. */

import { takeName } from "../../decorations/delegation";
import { nodesByName } from "../../delegation";
import { capped } from "../../format";
import { nodeId, type Program } from "../../program";
import type { BackendAnswer, OpTable } from "../../record.gen";
import type { Store } from "../../store";
import { More, RowButton } from "../parts/parts";

interface Props {
  store: Store;
  program: Program;
  table: OpTable;
}

const FEW = 16;

export function TakeTable({ store, program, table }: Props) {
  const names = nodesByName(program);
  const sets = table.answers.map((answer) => ({ answer, taken: new Set(answer.taken) }));
  const select = (calls: readonly string[]): void => {
    const nodes = calls.flatMap((name) => {
      const at = names.get(name);
      return at === undefined ? [] : [nodeId(0, at)];
    });
    store.select({ kind: "nodes", nodes }, "delegate");
  };
  return (
    <section aria-label="Ops by backend" data-testid="take-table">
      <h3 class="tx-pane-title">Which backends can take which ops</h3>
      <p class="tx-lead">Nothing was lowered. Press a backend to colour the graph by it.</p>
      <div class="tx-scroll-x">
        <table class="tx-table tx-histogram">
          <thead>
            <tr>
              <th>op</th>
              {table.answers.map(({ backend, title }) => (
                <th key={backend} class="tx-number">
                  <button
                    type="button"
                    class="tx-link"
                    aria-pressed={store.chosen.value === takeName(backend)}
                    title={`Colour the graph by what ${capped(title, 60)} can take`}
                    onClick={() => store.colourBy(takeName(backend))}
                  >
                    {capped(backend, 20)}
                  </button>
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            <More items={Object.entries(table.calls)} few={FEW}>
              {([op, calls]) => (
                <tr key={op} class="tx-pressable" onClick={() => select(calls)}>
                  <td class="tx-mono tx-clip">
                    <RowButton>{capped(op, 80)}</RowButton>
                  </td>
                  {sets.map(({ answer, taken }) => (
                    <Cell key={answer.backend} answer={answer} taken={taken} calls={calls} />
                  ))}
                </tr>
              )}
            </More>
          </tbody>
        </table>
      </div>
      {Object.entries(table.unavailable).map(([backend, why]) => (
        <p key={backend} class="tx-lead">
          {capped(`${backend}: ${why}`, 300)}
        </p>
      ))}
    </section>
  );
}

interface CellProps {
  answer: BackendAnswer;
  taken: ReadonlySet<string>;
  calls: readonly string[];
}

function Cell({ answer, taken, calls }: CellProps) {
  const yes = calls.filter((name) => taken.has(name)).length;
  const refused = calls.filter((name) => Object.hasOwn(answer.refused, name));
  const [text, kind, words] =
    yes === 0 && refused.length === 0
      ? ["·", "unknown", "not known"]
      : refused.length === 0
        ? ["✓", "taken", "can be taken"]
        : yes === 0
          ? ["✗", "refused", answer.refused[refused[0] ?? ""] || "not taken"]
          : [`${yes}/${calls.length}`, "partly", answer.refused[refused[0] ?? ""] || "not taken"];
  return (
    <td class={`tx-number tx-take-${kind}`} title={capped(words, 300)}>
      <span aria-hidden="true">{text}</span>
      <span class="tx-hidden">{words}</span>
    </td>
  );
}
