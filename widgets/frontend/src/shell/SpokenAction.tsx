/** Announces an action to screen readers: once when it starts, and when it ends. */

import { useRef } from "preact/hooks";
import { capped } from "../format";
import type { Store } from "../store";

const LONGEST = 300;

export function SpokenAction({ store }: { store: Pick<Store, "working" | "ended" | "program"> }) {
  const last = useRef("");
  const what = store.working.value?.what;
  const ended = store.ended.value;
  if (what !== undefined) last.current = what;
  if (what !== undefined) return <>{capped(`${what}…`, LONGEST)}</>;
  if (ended) return <>{capped(ended, LONGEST)}</>;
  if (!last.current) return null;
  const verdict = store.program.value?.record.verdict ?? "";
  return <>{capped(`${last.current}: done. ${verdict}`, LONGEST)}</>;
}
