/** Whether the program is ready to ship: one word, and five answers that link to their panes. */

import { capped, counted } from "../format";
import type { Release as Verdict } from "../messages.gen";
import { Popover } from "../Popover";
import type { Program } from "../program";
import type { Store } from "../store";
import { RELEASE_PANES, wasAsked } from "../tab_status";

const MARKS = { good: "✓", open: "?", bad: "✗", none: "–" } as const;
const SPOKEN = { good: "good", open: "open", bad: "wrong", none: "nothing to check" } as const;
/** With fewer ops, nobody ships it. */
const FEWEST_OPS = 3;

/** Nothing until a check was requested: until then the tabs are marked. */
export function Release({ store, program }: { store: Store; program: Program }) {
  const release = store.release.value;
  if (!release || program.record.failure || store.host.layout !== "all") return null;
  if (!wasAsked(program.record) || opsOf(program) < FEWEST_OPS) return null;
  return (
    <span class={`tx-release tx-release-${release.verdict.replace(" ", "-")}`}>
      <Popover name="Ready to ship?" face={faceOf(release)}>
        {(close) => (
          <>
            <h3>{capped(release.sentence, 400)}</h3>
            <ul class="tx-release-items" data-testid="release">
              {release.items.map((item) => (
                <Item key={item.name} store={store} item={item} close={close} />
              ))}
            </ul>
          </>
        )}
      </Popover>
    </span>
  );
}

const opsOf = (program: Program): number =>
  [...program.allNodes()].filter((id) => program.target(id)).length;

function faceOf({ items, verdict }: Verdict): string {
  if (verdict === "ready") return "Ready to ship";
  const open = items.filter(({ state }) => state === "open").length;
  return verdict === "open" ? `${counted(open, "check")} left` : "Not ready to ship";
}

interface ItemProps {
  store: Store;
  item: Verdict["items"][number];
  close: () => void;
}

function Item({ store, item, close }: ItemProps) {
  const pane = RELEASE_PANES[item.name];
  return (
    <li>
      <span class={`tx-release-${item.state}`} aria-hidden="true">
        {MARKS[item.state]}
      </span>{" "}
      <span class="tx-hidden">{SPOKEN[item.state]}: </span>
      {pane ? (
        <button
          type="button"
          class="tx-more"
          onClick={() => {
            close();
            store.open(pane);
          }}
        >
          {item.name}
        </button>
      ) : (
        item.name
      )}
      <span class="tx-lead">
        {" "}
        {capped(item.sentence, 300)}
        {item.command && ` In Python: ${capped(item.command, 200)}`}
      </span>
    </li>
  );
}
