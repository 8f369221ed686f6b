/** The state of something asked for: waiting, there, or refused with a sentence. */

import { useEffect, useState } from "preact/hooks";
import { reasonOf } from "../format";

export type Answer<T> =
  | { kind: "waiting"; slow: boolean }
  | { kind: "there"; value: T }
  | { kind: "refused"; why: string };

/** Longer than a round trip takes: the kernel must be busy. */
const SLOW_MS = 1500;

/** Asks again when `inputs` change; an answer to an earlier question is dropped. */
export function useAnswer<T>(ask: () => Promise<T>, inputs: readonly unknown[]): Answer<T> {
  const [answer, setAnswer] = useState<Answer<T>>({ kind: "waiting", slow: false });
  useEffect(() => {
    let current = true;
    const settle = (next: Answer<T>): void => {
      clearTimeout(timer);
      if (current) setAnswer(next);
    };
    const timer = setTimeout(() => settle({ kind: "waiting", slow: true }), SLOW_MS);
    setAnswer({ kind: "waiting", slow: false });
    ask().then(
      (value) => settle({ kind: "there", value }),
      (error: unknown) => settle({ kind: "refused", why: reasonOf(error) }),
    );
    return () => {
      current = false;
      clearTimeout(timer);
    };
  }, inputs);
  return answer;
}
