/** An action that the kernel is at: what, how far, for how long, and a way to stop it. */

import { useEffect, useMemo, useState } from "preact/hooks";
import { capped } from "../format";
import type { Store } from "../store";
import type { Spot } from "./clicked";

const TICK_MS = 500;

interface WorkingProps {
  store: Pick<Store, "working" | "host">;
  /** Its place, if the action has one; by default, below everything. */
  place?: () => Spot | null;
  /** The pane that is open: once it is another, the place that was clicked is gone. */
  pane?: string;
}

export function Working({ store, place, pane }: WorkingProps) {
  const working = store.working.value;
  const since = working?.since;
  const clicked = useMemo(
    () => ({ spot: (since !== undefined && place?.()) || null, pane }),
    [since],
  );
  const spot = clicked.pane === pane ? clicked.spot : null;
  const seconds = useSeconds(working?.since ?? null);
  if (!working) return null;
  const { progress } = working;
  const stop = store.host.interrupt;
  const share = progress && progress.total > 0 ? { max: progress.total, value: progress.done } : {};
  const step = progress?.label ?? "";
  return (
    <div
      class={`tx-working${spot ? " tx-working-here" : ""}`}
      data-testid="working"
      style={spot ? { top: `${spot.top}px`, left: `${spot.left}px`, width: `${spot.width}px` } : {}}
    >
      <progress {...share} aria-label={capped(working.what, 200)} />
      <span class="tx-clip" title={capped([working.what, step].filter(Boolean).join(": "))}>
        <b>{capped(working.what, 200)}</b>
        {step && ` · ${capped(step, 200)}`}
      </span>
      <span class="tx-lead">{seconds} s</span>
      {stop ? (
        <button type="button" class="tx-button" onClick={stop}>
          Stop
        </button>
      ) : (
        seconds > 2 && <span class="tx-lead">interrupt the kernel to stop</span>
      )}
    </div>
  );
}

/** Whole seconds since a point in time, counting on. */
function useSeconds(since: number | null): number {
  const [now, setNow] = useState(0);
  useEffect(() => {
    if (since === null) return;
    const update = (): void => setNow(performance.now());
    update();
    const timer = setInterval(update, TICK_MS);
    return () => clearInterval(timer);
  }, [since]);
  return since === null ? 0 : Math.max(0, Math.floor((now - since) / 1000));
}
