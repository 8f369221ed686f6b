/** How long an action will take, before it starts: as long as last time, or what is said of it. */

import type { ComponentChildren } from "preact";
import { durationText } from "../../format";
import type { Program } from "../../program";
import type { Store } from "../../store";

/** How long one more export takes, as the first one did. */
export function exportTime({ record }: Program): string {
  return record.timing ? `about ${durationText(Math.max(record.timing.capture, 0.1))}` : "seconds";
}

interface ExpectedProps {
  store: Pick<Store, "took">;
  /** What the store calls the action while it runs. */
  action: string;
  /** What is known before the first time. */
  children: ComponentChildren;
}

export function Expected({ store, action, children }: ExpectedProps) {
  const took = store.took.value.get(action);
  return (
    <span class="tx-lead" data-testid={`expected-${action}`}>
      {took === undefined ? children : `took ${durationText(took)} last time`}
    </span>
  );
}
