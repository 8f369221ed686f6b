/** How the program on screen differs from another attempt's: op by op, then signature and ranges. */

import { useEffect, useRef } from "preact/hooks";
import type { Comparison } from "../../compare/comparison";
import { type Entry, nodesOf, othersOf, summaryOf, titleOf } from "../../compare/entries";
import { goToDifference } from "../../compare/stepping";
import { capped, counted } from "../../format";
import type { Program } from "../../program";
import type { Difference, LoneScope, RenamedScope } from "../../record.gen";
import type { Store } from "../../store";
import { Empty, More } from "../parts/parts";
import { TextDiffs } from "./TextDiffs";

interface Props {
  store: Store;
  program: Program;
}

const FEW = 100;

export function Differences({ store, program }: Props) {
  const comparison = store.comparison.value;
  if (!comparison) return <Empty>Choose Compare with… at the top.</Empty>;
  return <Compared store={store} program={program} comparison={comparison} />;
}

function Compared({ store, program, comparison }: Props & { comparison: Comparison }) {
  const { diff, entries, other } = comparison;
  const nodes = nodesOf(entries);
  const others = othersOf(diff);
  return (
    <section class="tx-panel" aria-label="Differences" data-testid="differences" data-pane>
      <div class="tx-scroll">
        <p class="tx-lead">Compared with: {capped(store.nameOf(other), 200)}</p>
        <p role="status">
          <strong>{summaryOf(entries, others, diff.identical)}</strong>
        </p>
        {diff.weights && <p data-testid="weights">{capped(diff.weights, 300)}</p>}
        {diff.symbols.length > 0 && (
          <p class="tx-lead">
            Same ops under different names:{" "}
            {capped(diff.symbols.map(([old, now]) => `${old} → ${now}`).join(", "), 300)}
          </p>
        )}
        {nodes.length > 0 && (
          <div class="tx-filters">
            <button
              type="button"
              class="tx-button"
              onClick={() => store.select({ kind: "nodes", nodes }, "differences")}
            >
              Select all in the graph
            </button>
          </div>
        )}
        <ul class="tx-findings">
          <More items={entries} few={FEW}>
            {(entry, index) => (
              <EntryRow
                key={index}
                store={store}
                program={program}
                comparison={comparison}
                entry={entry}
                number={index}
              />
            )}
          </More>
        </ul>
        {others.length > 0 && <Others others={others} />}
        <TextDiffs store={store} other={other} />
      </div>
    </section>
  );
}

const SIGNS: { [kind in Entry["kind"]]: string } = {
  changed: "~",
  replaced: "→",
  renamed: "~",
  added: "+",
  removed: "−",
};

interface EntryProps extends Props {
  comparison: Comparison;
  entry: Entry;
  /** Among all entries. */
  number: number;
}

function EntryRow({ store, program, comparison, entry, number }: EntryProps) {
  const { after } = entry;
  const isOld = after === null || entry.kind === "replaced";
  const shown = isOld ? (entry.before ?? 0) : after;
  const owner = isOld ? comparison.before : program;
  const open = comparison.at.value === number;
  const row = useRef<HTMLLIElement>(null);
  useEffect(() => {
    if (open) row.current?.scrollIntoView?.({ block: "nearest" });
  }, [open]);
  return (
    <li
      ref={row}
      class={`tx-difference tx-difference-${entry.kind}${open ? " tx-lit" : ""}`}
      data-testid="difference"
    >
      <span class="tx-mark" title={entry.kind}>
        {SIGNS[entry.kind]}
      </span>{" "}
      <button
        type="button"
        class="tx-link"
        title={entry.why ? `Matched by ${entry.why}` : "Show in every pane"}
        onClick={() => goToDifference(store, number)}
      >
        {entry.scope ? moduleTitle(entry.scope) : capped(owner.name(shown), 120)}
      </button>{" "}
      <span class="tx-lead">
        {entry.scope ? moduleLead(entry.scope) : capped(titleOf(owner, shown), 200)}
      </span>
      {entry.kind === "replaced" && entry.became.length > 0 && (
        <div class="tx-mono tx-change-line">
          became {capped(entry.became.map((node) => program.name(node)).join(", "), 400)}
        </div>
      )}
      {entry.changes.map((change) => (
        <div key={change.what} class="tx-mono tx-change-line">
          {change.what}: <del>{capped(change.before || "none", 300)}</del>{" "}
          <ins>{capped(change.after || "none", 300)}</ins>
        </div>
      ))}
    </li>
  );
}

/** `layers.*.mlp → layers.*.ffn`; the root has no path. */
function moduleTitle(scope: RenamedScope | LoneScope): string {
  if ("path" in scope) return capped(scope.path, 120);
  const [old, now] = [scope.before, scope.after].map((path) => capped(path || "the root", 120));
  return `${old} → ${now}`;
}

function moduleLead(scope: RenamedScope | LoneScope): string {
  if ("path" in scope) {
    const held = contents(scope.nodes.length, scope.others.length);
    return `${capped(scope.cls, 120)}, a module ${scope.kind}: ${held}`;
  }
  const nodes = scope.pairs.reduce((sum, pairs) => sum + pairs.length, 0);
  return `module renamed: ${contents(nodes, scope.others.length / 2)}, otherwise the same`;
}

function contents(nodes: number, inputs: number): string {
  return `${counted(nodes, "node")}${inputs > 0 ? ` and ${counted(inputs, "input")}` : ""}`;
}

/** Sizes that go the same way as one row: `x.shape[0] = 0, 1, 2`. Pure. */
export function byReason(others: readonly Difference[]): Difference[] {
  const rows = new Map<string, Difference>();
  for (const each of others) {
    const { after, before, kind, name } = each;
    const key = kind === "sizes" ? `${before} → ${after}` : `${kind} ${name}`;
    const first = rows.get(key)?.name;
    const [dim, size] = name.split(" = ");
    const isOfDim = first?.startsWith(`${dim} = `) && name === `${dim} = ${size}`;
    const joined = isOfDim ? `${first}, ${size}` : first && `${first}; ${name}`;
    rows.set(key, { ...each, name: joined || name });
  }
  return [...rows.values()];
}

function Others({ others }: { others: readonly Difference[] }) {
  return (
    <table class="tx-table">
      <caption>{counted(others.length, "difference")} outside of the graph</caption>
      <tbody>
        {byReason(others).map((each) => (
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
