/** The state of something asked for: waiting, there, or refused with a sentence. */

import { useEffect, useState } from "preact/hooks";

export type Answer<T> =
  | { kind: "waiting" }
  | { kind: "there"; value: T }
  | { kind: "refused"; why: string };

/** Asks again when `inputs` change; an answer to an earlier question is dropped. */
export function useAnswer<T>(ask: () => Promise<T>, inputs: readonly unknown[]): Answer<T> {
  const [answer, setAnswer] = useState<Answer<T>>({ kind: "waiting" });
  useEffect(() => {
    let current = true;
    setAnswer({ kind: "waiting" });
    ask().then(
      (value) => current && setAnswer({ kind: "there", value }),
      (error: unknown) =>
        current &&
        setAnswer({ kind: "refused", why: error instanceof Error ? error.message : String(error) }),
    );
    return () => {
      current = false;
    };
  }, inputs);
  return answer;
}
