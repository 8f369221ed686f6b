/** The decorations of some nodes together. */

import { markOf, noteOf } from "../../decorations/decoration";
import { capped } from "../../format";
import type { NodeId } from "../../program";
import type { Store } from "../../store";
import { Fact } from "../parts/parts";

const MOST_NOTE = 400;

export function Decorated({ store, nodes }: { store: Store; nodes: readonly NodeId[] }) {
  return (
    <>
      {store.decorations.value.map((each) => {
        const mark = markOf(each, nodes);
        const note = mark && noteOf(each, mark);
        if (!note) return null;
        return (
          <Fact key={each.name} name={capped(each.title, 60)}>
            {mark.badge && (
              <span class="tx-badge-sign" style={{ background: mark.badge.colour }}>
                {capped(mark.badge.sign, 2)}
              </span>
            )}{" "}
            {capped(note, MOST_NOTE)}
          </Fact>
        );
      })}
    </>
  );
}
