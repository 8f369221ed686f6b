/** The state of a request: waiting, answered, or refused with a sentence. */

import { useEffect, useState } from "preact/hooks";
import { reasonOf } from "../../format";

export type Answer<T> =
  | { kind: "waiting"; slow: boolean }
  | { kind: "there"; value: T }
  | { kind: "refused"; why: string };

/** Longer than a round trip takes: the kernel must be busy. */
const SLOW_MS = 1500;

/** Whether what is waited for takes longer than a round trip does. */
export function useSlow(): boolean {
  const [slow, setSlow] = useState(false);
  useEffect(() => {
    const timer = window.setTimeout(() => setSlow(true), SLOW_MS);
    return () => clearTimeout(timer);
  }, []);
  return slow;
}

/** Asks again when `inputs` change; an answer to an earlier question is dropped. */
export function useAnswer<T>(ask: () => Promise<T>, inputs: readonly unknown[]): Answer<T> {
  const [answer, setAnswer] = useState<Answer<T>>({ kind: "waiting", slow: false });
  useEffect(() => {
    let current = true;
    const wait = (slow: boolean, after: number): number =>
      window.setTimeout(() => setAnswer({ kind: "waiting", slow }), after);
    // A cached answer is used at once, so that nothing flickers and the scroll position stays.
    const timers = [wait(false, 0), wait(true, SLOW_MS)];
    const stop = (): void => timers.forEach(clearTimeout);
    const settle = (next: Answer<T>): void => {
      stop();
      if (current) setAnswer(next);
    };
    ask().then(
      (value) => settle({ kind: "there", value }),
      (error: unknown) => settle({ kind: "refused", why: reasonOf(error) }),
    );
    return () => {
      current = false;
      stop();
    };
  }, inputs);
  return answer;
}
