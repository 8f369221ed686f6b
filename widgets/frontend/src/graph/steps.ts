/** Long work in steps, so that the page answers meanwhile. */

/** Milliseconds of work before the page gets its turn. */
const SLICE_MS = 24;

/** Runs all steps at once. */
export function finished<T>(steps: Generator<void, T>): T {
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value;
  }
}

/**
 * Runs the steps, letting the page have its turn after each slice. A result within one slice is
 * returned at once.
 *
 * @param isWanted asked after each turn; where it is not, the rest is left undone
 */
export function unhurried<T>(
  steps: Generator<void, T>,
  isWanted: () => boolean,
): T | Promise<T | null> {
  const slice = (): IteratorResult<void, T> => {
    const until = performance.now() + SLICE_MS;
    for (;;) {
      const step = steps.next();
      if (step.done || performance.now() > until) return step;
    }
  };
  const first = slice();
  if (first.done) return first.value;
  return (async () => {
    for (;;) {
      await turn();
      if (!isWanted()) return null;
      const next = slice();
      if (next.done) return next.value;
    }
  })();
}

/** Resolves once what waits for this thread was done. A timer would wait for milliseconds. */
export function turn(): Promise<void> {
  const { port1, port2 } = new MessageChannel();
  return new Promise((resolve) => {
    port1.onmessage = () => {
      port1.close();
      resolve();
    };
    port2.postMessage(null);
  });
}
