/** The slowest lines, the kernels, and remarks on them. A press selects their ops. */

import { useMemo } from "preact/hooks";
import { capped, durationText, shareText } from "../../format";
import { nodeId } from "../../program";
import type { Stages } from "../../record.gen";
import { isBackward, lineSets, linesText, nodesOfKernels, slowestFirst } from "../../stages";
import type { Store } from "../../store";
import { More, Prose, RowButton } from "../parts/parts";

const FEW_LINES = 10;
const FEW_KERNELS = 12;
const FEW_REMARKS = 6;

interface Props {
  store: Store;
  stages: Stages;
  /** The kernels of the selection. */
  lit: ReadonlySet<number>;
  /** The one whose facts are shown. */
  kernel: number;
}

export function KernelTables({ store, stages, lit, kernel }: Props) {
  const sets = useMemo(() => lineSets(stages), [stages]);
  const order = useMemo(() => slowestFirst(stages), [stages]);
  const whole = stages.times?.kernels || 1;
  const select = (kernels: readonly number[]): void => {
    const nodes = nodesOfKernels(stages, kernels);
    store.selectKernel(kernels.length === 1 ? (kernels[0] ?? -1) : -1, { kind: "nodes", nodes });
  };
  const row = (key: string, name: string, took: number, on: boolean, press: () => void) => (
    <tr
      key={key}
      class={on ? "tx-pressable tx-lit" : "tx-pressable"}
      title={capped(name, 400)}
      onClick={press}
    >
      <td class="tx-mono tx-clip">
        <RowButton>{capped(name, 200)}</RowButton>
      </td>
      <td class="tx-number">{took >= 0 ? durationText(took / 1e6) : "–"}</td>
      <td class="tx-number">{took >= 0 ? shareText(took / whole) : ""}</td>
      <td class="tx-bar-cell">
        <div
          class="tx-bar tx-bar-heat"
          style={{ width: `${(100 * Math.max(took, 0)) / whole}%` }}
        />
      </td>
    </tr>
  );
  return (
    <>
      {stages.times && (
        <section aria-label="Slowest lines" data-testid="stage-lines">
          <h3 class="tx-pane-title">Slowest lines</h3>
          <p class="tx-lead">Lines that share a kernel are one row.</p>
          <table class="tx-table tx-histogram">
            <tbody>
              <More items={sets} few={FEW_LINES}>
                {(set) =>
                  row(
                    set.lines.join(),
                    nameOf(stages, set.lines),
                    set.microseconds,
                    set.kernels.some((each) => lit.has(each)),
                    () => select(set.kernels),
                  )
                }
              </More>
            </tbody>
          </table>
        </section>
      )}
      <section aria-label="Kernels" data-testid="stage-kernels">
        <h3 class="tx-pane-title">Kernels</h3>
        <table class="tx-table tx-histogram">
          <tbody>
            <More items={order} few={FEW_KERNELS}>
              {(number) => {
                const each = stages.kernels[number];
                const on = lit.has(number) && (kernel < 0 || kernel === number);
                const name = `${isBackward(stages, number) ? "backward · " : ""}${each?.name ?? ""}`;
                return row(`${number}`, name, each?.microseconds ?? -1, on, () => select([number]));
              }}
            </More>
          </tbody>
        </table>
      </section>
      {stages.guards.length > 0 && (
        <section aria-label="Added guards" data-testid="stage-guards">
          <h3 class="tx-pane-title">Added by the compiler</h3>
          <p class="tx-lead">
            What the compiled code requires of inputs, in addition to the program's guards.
          </p>
          <ul class="tx-stage-remarks">
            <More items={stages.guards} few={FEW_REMARKS}>
              {(guard, index) => (
                <li key={index}>
                  <button
                    type="button"
                    class="tx-link"
                    onClick={() =>
                      store.selectKernel(-1, { kind: "nodes", nodes: [nodeId(0, guard.node)] })
                    }
                  >
                    {linesText(stages, guard.lines) || "no line"}
                  </button>{" "}
                  <Prose text={guard.text} most={400} />
                </li>
              )}
            </More>
          </ul>
        </section>
      )}
      {stages.remarks.length > 0 && (
        <section aria-label="Worth a look" data-testid="stage-remarks">
          <h3 class="tx-pane-title">Worth a look</h3>
          <ul class="tx-stage-remarks">
            <More items={stages.remarks} few={FEW_REMARKS}>
              {(remark, index) => (
                <li key={index}>
                  <button
                    type="button"
                    class="tx-link"
                    onClick={() => select([remark.kernel])}
                    title={capped(stages.kernels[remark.kernel]?.name ?? "", 200)}
                  >
                    {linesText(stages, remark.lines) || "no line"}
                  </button>{" "}
                  <Prose text={remark.text} most={400} />
                </li>
              )}
            </More>
          </ul>
        </section>
      )}
    </>
  );
}

/** A line with its code; of several, their numbers. */
function nameOf(stages: Stages, lines: readonly number[]): string {
  const [first] = lines;
  const one = first === undefined ? undefined : stages.lines[first];
  if (!one) return "no known line";
  return lines.length === 1 ? `${one.name}:${one.line}  ${one.code}` : linesText(stages, lines);
}
