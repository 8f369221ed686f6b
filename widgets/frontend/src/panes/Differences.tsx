/** How the program on screen differs from another attempt's: op by op, then signature and ranges. */

import { useState } from "preact/hooks";
import { capped, counted } from "../format";
import type { Program } from "../program";
import type { Difference } from "../record.gen";
import type { Comparison, Store } from "../store";
import { type Entry, entriesOf, nodesOf, summaryOf, titleOf } from "./diff_entries";
import { Empty, More } from "./parts";

interface Props {
  store: Store;
  program: Program;
}

const FEW = 100;

export function Differences({ store, program }: Props) {
  const comparison = store.comparison.value;
  if (!comparison) return <Empty>Choose Compare beside an attempt in History.</Empty>;
  return <Compared store={store} program={program} comparison={comparison} />;
}

function Compared({ store, program, comparison }: Props & { comparison: Comparison }) {
  const { diff, other } = comparison;
  const [at, setAt] = useState(-1);
  const entries = entriesOf(diff);
  const nodes = nodesOf(entries);
  const go = (step: number): void => {
    if (entries.length === 0) return;
    const next = (at + step + entries.length) % entries.length;
    setAt(next);
    const node = entries[next]?.after;
    if (typeof node === "number") store.select({ kind: "nodes", nodes: [node] }, "differences");
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.key !== "n" && event.key !== "p") return;
    event.preventDefault();
    event.stopPropagation();
    go(event.key === "n" ? 1 : -1);
  };
  return (
    <section
      class="tx-panel"
      aria-label="Differences"
      data-testid="differences"
      data-pane
      onKeyDown={onKeyDown}
    >
      <div class="tx-scroll">
        <p class="tx-lead">
          Beside {capped(store.attempts.value[other]?.step || `attempt ${other + 1}`, 200)}
        </p>
        <p role="status">
          <strong>{summaryOf(entries, diff.others)}</strong>
        </p>
        {diff.symbols.length > 0 && (
          <p class="tx-lead">
            The same under other names:{" "}
            {capped(diff.symbols.map(([old, now]) => `${old} → ${now}`).join(", "), 300)}
          </p>
        )}
        {entries.length > 0 && (
          <div class="tx-filters">
            <button type="button" class="tx-button" title="Key p" onClick={() => go(-1)}>
              Previous
            </button>
            <button type="button" class="tx-button" title="Key n" onClick={() => go(1)}>
              Next
            </button>
            {nodes.length > 0 && (
              <button
                type="button"
                class="tx-button"
                onClick={() => store.select({ kind: "nodes", nodes }, "differences")}
              >
                Show all in the graph
              </button>
            )}
          </div>
        )}
        <ul class="tx-findings">
          <More items={entries} few={FEW}>
            {(entry, index) => (
              <EntryRow
                key={index}
                store={store}
                program={program}
                before={comparison.before}
                entry={entry}
                open={index === at}
              />
            )}
          </More>
        </ul>
        {diff.others.length > 0 && <Others others={diff.others} />}
      </div>
    </section>
  );
}

const SIGNS: { [kind in Entry["kind"]]: string } = { changed: "~", added: "+", removed: "−" };

interface EntryProps extends Props {
  before: Program;
  entry: Entry;
  open: boolean;
}

function EntryRow({ store, program, before, entry, open }: EntryProps) {
  const { after } = entry;
  const shown = after ?? entry.before ?? 0;
  const owner = after === null ? before : program;
  return (
    <li
      class={`tx-difference tx-difference-${entry.kind}${open ? " tx-lit" : ""}`}
      data-testid="difference"
    >
      <span class="tx-mark" title={entry.kind}>
        {SIGNS[entry.kind]}
      </span>{" "}
      {after === null ? (
        <b>{capped(owner.name(shown), 120)}</b>
      ) : (
        <button
          type="button"
          class="tx-link"
          title={entry.why ? `Matched by ${entry.why}` : "Show in every pane"}
          onClick={() => store.select({ kind: "nodes", nodes: [after] }, "differences")}
        >
          {capped(owner.name(shown), 120)}
        </button>
      )}{" "}
      <span class="tx-lead">{capped(titleOf(owner, shown), 200)}</span>
      {entry.changes.map((change) => (
        <div key={change.what} class="tx-mono tx-change-line">
          {change.what}: <del>{capped(change.before || "none", 300)}</del>{" "}
          <ins>{capped(change.after || "none", 300)}</ins>
        </div>
      ))}
    </li>
  );
}

function Others({ others }: { others: readonly Difference[] }) {
  return (
    <table class="tx-table">
      <caption>{counted(others.length, "difference")} outside of the graph</caption>
      <tbody>
        {others.map((each) => (
          <tr key={`${each.kind} ${each.name}`}>
            <td>
              {each.kind} <span class="tx-mono">{capped(each.name, 120)}</span>
            </td>
            <td class="tx-mono">
              <del>{capped(each.before || "none", 200)}</del>{" "}
              <ins>{capped(each.after || "none", 200)}</ins>
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
