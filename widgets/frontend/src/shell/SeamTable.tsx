/** The tensors of one seam: what is given, what is taken. */

import { capped } from "../format";
import type { Flow, ProgramSet, Seam } from "../record.gen";
import type { Store } from "../store";

interface SeamTableProps {
  store: Store;
  set: ProgramSet;
  seam: Seam;
}

export function SeamTable({ store, set, seam }: SeamTableProps) {
  const source = capped(set.components[seam.source]?.name ?? "", 60);
  const target = capped(set.components[seam.target]?.name ?? "", 60);
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls
    <section class="tx-strip-table" tabIndex={0} aria-label="Tensors of the seam">
      <table class="tx-table">
        <thead>
          <tr>
            <th scope="col">{source} gives</th>
            <th scope="col">as</th>
            <th scope="col">{target} takes</th>
            <th scope="col">as</th>
            <th scope="col">known by</th>
          </tr>
        </thead>
        <tbody>
          {seam.flows.map((flow, index) => (
            <tr key={index} class={isShownApart(flow) ? "tx-strip-apart" : ""}>
              <td>
                <Tensor
                  path={flow.source_path}
                  show={() => show(store, seam.source, flow.source_node)}
                />
              </td>
              <td>
                <code>{capped(flow.given, 120)}</code>
              </td>
              <td>
                <Tensor
                  path={flow.target_path}
                  show={() => show(store, seam.target, flow.target_node)}
                />
              </td>
              <td>
                <code>{capped(flow.taken, 120)}</code>
              </td>
              <td>{flow.known_by}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

function Tensor({ path, show }: { path: string; show: () => void }) {
  return (
    <button type="button" class="tx-link" onClick={show}>
      {capped(path, 120)}
    </button>
  );
}

/** Shows one tensor in its program, and lets go of the others of the seam. */
function show(store: Store, component: number, node: number): void {
  void store.showBetween(component, node);
}

/** Whether the dtypes differ; sizes may, where a cache grows. */
function isShownApart(flow: Flow): boolean {
  return flow.given.split("[")[0] !== flow.taken.split("[")[0];
}
