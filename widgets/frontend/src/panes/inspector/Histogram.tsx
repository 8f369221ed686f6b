/** The number of calls of each op among some nodes. */

import { useMemo } from "preact/hooks";
import { capped, counted, grouped } from "../../format";
import type { NodeId, Program } from "../../program";
import type { Store } from "../../store";
import { RowButton } from "../parts/parts";

const MOST_KINDS = 16;

interface HistogramProps {
  store: Store;
  program: Program;
  nodes: readonly NodeId[];
}

/** A press selects the ops of a kind. */
export function Histogram({ store, program, nodes }: HistogramProps) {
  const kinds = useMemo(() => byKind(program, nodes), [program, nodes]);
  const most = Math.max(1, ...kinds.map(([, same]) => same.length));
  if (kinds.length === 0) return null;
  return (
    <table class="tx-table tx-histogram">
      <caption>Ops by kind</caption>
      <tbody>
        {kinds.slice(0, MOST_KINDS).map(([name, same]) => (
          <tr
            key={name}
            title={capped(`${name}: select ${counted(same.length, "op")}`)}
            class="tx-pressable"
            onClick={() => store.select({ kind: "nodes", nodes: same }, "inspector")}
          >
            <td class="tx-mono tx-clip">
              <RowButton>{capped(name, 200)}</RowButton>
            </td>
            <td class="tx-number">{grouped(same.length)}</td>
            <td class="tx-bar-cell">
              <div class="tx-bar" style={{ width: `${(100 * same.length) / most}%` }} />
            </td>
          </tr>
        ))}
      </tbody>
      {kinds.length > MOST_KINDS && (
        <tfoot>
          <tr>
            <td class="tx-lead" colSpan={3}>
              and {counted(kinds.length - MOST_KINDS, "more kind")}
            </td>
          </tr>
        </tfoot>
      )}
    </table>
  );
}

/** The heading of ops that have no boxes. */
const HOUSEKEEPING = "check or compute sizes";

/** The nodes of each operator, the most frequent first. Pure. */
function byKind(program: Program, nodes: readonly NodeId[]): [string, NodeId[]][] {
  const kinds = new Map<string, NodeId[]>();
  for (const node of nodes) {
    const target = program.target(node)?.name;
    if (!target) continue;
    const name = program.isHousekeeping(node) ? HOUSEKEEPING : target;
    const same = kinds.get(name);
    if (same) same.push(node);
    else kinds.set(name, [node]);
  }
  const last = ([name]: [string, NodeId[]]): number => Number(name === HOUSEKEEPING);
  return [...kinds].sort((a, b) => last(a) - last(b) || b[1].length - a[1].length);
}
