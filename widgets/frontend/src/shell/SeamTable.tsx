/** The tensors of one connection: returned and accepted. */

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
    <section class="tx-strip-table" tabIndex={0} aria-label="Tensors of the connection">
      <table class="tx-table">
        <thead>
          <tr>
            <th scope="col">{source} returns</th>
            <th scope="col">{target} accepts</th>
            <th scope="col">Matched by</th>
          </tr>
        </thead>
        <tbody>
          {seam.flows.map((flow, index) => (
            <tr key={index} class={isShownApart(flow) ? "tx-strip-apart" : ""}>
              <Tensor
                path={flow.source_path}
                type={flow.given}
                show={() => show(store, seam.source, flow.source_node)}
              />
              <Tensor
                path={flow.target_path}
                type={flow.taken}
                show={() => show(store, seam.target, flow.target_node)}
              />
              <td>{flow.known_by}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

interface TensorProps {
  path: string;
  type: string;
  show: () => void;
}

/** A tensor with its type, which is below it if there is no room next to it. */
function Tensor({ path, type, show }: TensorProps) {
  return (
    <td>
      <div class="tx-strip-tensor">
        <button type="button" class="tx-link" onClick={show}>
          {capped(path, 120)}
        </button>
        <code>{capped(type, 120)}</code>
      </div>
    </td>
  );
}

/** Shows one tensor in its program, and lets go of the others of the seam. */
function show(store: Store, component: number, node: number): void {
  void store.showBetween(component, node);
}

/** Whether the dtypes differ; sizes may differ if a cache grows. */
function isShownApart(flow: Flow): boolean {
  return flow.given.split("[")[0] !== flow.taken.split("[")[0];
}
