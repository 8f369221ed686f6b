/** How long an action will take, before it starts: the last duration, or an estimate. */

import type { ComponentChildren } from "preact";
import { durationText } from "../../format";
import type { Program } from "../../program";
import type { Store } from "../../store";

/** How long one more export takes, as the first one did. */
export function exportTime({ record }: Program): string {
  return record.timing ? `about ${durationText(Math.max(record.timing.capture, 0.1))}` : "seconds";
}

/** Per second, as measured on two cores of a server: ops that torch loads and that are paired. */
const LOADED_OPS = 500;
const PAIRED_OPS = 1000;
/** And bytes of weights that it loads. */
const LOADED_BYTES = 200e6;

const about = (seconds: number): string => `about ${Math.ceil(seconds)} s`;
const opsOf = ({ record }: Program): number =>
  record.graphs.reduce((sum, { name }) => sum + name.length, 0);

/** How long torch takes to load a file that was opened as data. */
export function loadTime(program: Program): string {
  const bytes = program.record.signature.inputs.reduce((sum, each) => sum + each.bytes, 0);
  return about(opsOf(program) / LOADED_OPS + bytes / LOADED_BYTES);
}

/** How long another program, of about as many ops, takes to be read and paired with this one. */
export const compareTime = (program: Program): string => about(opsOf(program) / PAIRED_OPS);

interface ExpectedProps {
  store: Pick<Store, "took">;
  /** The store's name of the action while it runs. */
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
