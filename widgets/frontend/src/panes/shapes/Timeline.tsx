/** The events of symbols while tracing, in order: TORCH_LOGS="dynamic" in a readable form. */

import { capped, counted } from "../../format";
import type { Program } from "../../program";
import type { Event } from "../../record.gen";
import type { Store } from "../../store";
import { ConditionText } from "../parts/ConditionText";
import { LineLink } from "../parts/LineLink";
import { More } from "../parts/parts";

const FEW = 200;

const WORDS: { [kind in Event["kind"]]: string } = {
  birth: "new size",
  guard: "asked",
  range: "range",
  replacement: "equal",
};

export function Timeline({ store, program }: { store: Store; program: Program }) {
  const { timeline } = program.record;
  if (timeline.length === 0) return null;
  return (
    <details class="tx-timeline" data-testid="timeline">
      <summary>How it was derived: {counted(timeline.length, "event")} while tracing</summary>
      <table class="tx-table tx-events">
        <thead>
          <tr>
            <th>Kind</th>
            <th>Event</th>
            <th>Line</th>
          </tr>
        </thead>
        <tbody>
          <More items={timeline} few={FEW}>
            {(event, index) => (
              <tr key={index}>
                <td class="tx-event-kind">{WORDS[event.kind]}</td>
                <td class="tx-mono" title={capped(`torch: ${event.torch_text}`)}>
                  <ConditionText program={program} text={event.text} symbols={event.symbols} />
                  {event.count > 1 && <span class="tx-lead"> ×{event.count}</span>}
                </td>
                <td>
                  <LineLink store={store} program={program} stack={event.stack} />
                </td>
              </tr>
            )}
          </More>
        </tbody>
      </table>
    </details>
  );
}
