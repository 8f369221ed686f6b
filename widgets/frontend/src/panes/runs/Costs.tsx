/** The profile: the largest costs by kind of op, scope or line, and the colouring by them. */

import { useMemo, useState } from "preact/hooks";
import { bytesText, capped, durationText, shareText } from "../../format";
import { type GroupBy, type Total, totalsBy } from "../../profile";
import type { Program } from "../../program";
import type { Profile } from "../../record.gen";
import type { Store } from "../../store";
import { DearestLine } from "../parts/DearestLine";
import { More, RowButton } from "../parts/parts";

const FEW = 8;
const GROUPS: [GroupBy, string][] = [
  ["node", "single ops"],
  ["op", "kinds of op"],
  ["scope", "modules"],
  ["line", "your lines"],
];
const COLOURINGS: [string, string][] = [
  ["none", "nothing"],
  ["time", "time"],
  ["memory", "memory"],
];

interface CostsProps {
  store: Store;
  program: Program;
  profile: Profile;
}

export function Costs({ store, program, profile }: CostsProps) {
  const [by, setBy] = useState<GroupBy>("node");
  const memory = store.colouring.value?.name === "memory";
  const costs = memory ? profile.bytes : profile.microseconds;
  const totals = useMemo(() => totalsBy(program, costs, by), [program, costs, by]);
  const lines = useMemo(() => totalsBy(program, costs, "line"), [program, costs]);
  const whole = costs.reduce((sum, each) => sum + Math.max(each, 0), 0);
  return (
    <section aria-label="Profile" data-testid="costs" data-result="profile">
      <h3 class="tx-pane-title">Profile</h3>
      <p class="tx-lead">
        {durationText(profile.total / 1e6)} op by op on {profile.device}, {profile.inputs}; medians
        of {profile.runs} runs
      </p>
      <DearestLine store={store} program={program} lines={lines} whole={whole} />
      <div class="tx-filters">
        <label>
          Most of{" "}
          <select
            class="tx-input"
            value={by}
            data-testid="costs-by"
            onChange={(event) => setBy(event.currentTarget.value as GroupBy)}
          >
            {GROUPS.map(([value, name]) => (
              <option key={value} value={value}>
                {name}
              </option>
            ))}
          </select>
        </label>
        <label>
          Colour by{" "}
          <select
            class="tx-input"
            value={store.colouring.value?.measure ? store.colouring.value.name : "none"}
            data-testid="heat"
            onChange={(event) => store.colourBy(event.currentTarget.value)}
          >
            {COLOURINGS.map(([value, name]) => (
              <option key={value} value={value}>
                {name}
              </option>
            ))}
          </select>
        </label>
      </div>
      <table class="tx-table tx-histogram">
        <tbody>
          <More items={totals} few={FEW}>
            {(total) => (
              <Row key={total.name} store={store} total={total} whole={whole} memory={memory} />
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
  whole: number;
  memory: boolean;
}

/** A press selects the ops. */
function Row({ store, total, whole, memory }: RowProps) {
  const share = total.cost / (whole || 1);
  return (
    <tr
      title={capped(`${total.name}: select its ops`)}
      class="tx-pressable"
      onClick={() => store.select({ kind: "nodes", nodes: total.nodes }, "runs")}
    >
      <td class="tx-mono tx-clip">
        <RowButton>{capped(total.name, 200)}</RowButton>
      </td>
      <td class="tx-number">{memory ? bytesText(total.cost) : durationText(total.cost / 1e6)}</td>
      <td class="tx-number">{shareText(share)}</td>
      <td class="tx-bar-cell">
        <div class="tx-bar tx-bar-heat" style={{ width: `${100 * share}%` }} />
      </td>
    </tr>
  );
}
