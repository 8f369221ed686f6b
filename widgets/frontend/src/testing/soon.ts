/** Waits for what the page does in a moment, and on a busy machine in some seconds. */

import { vi } from "vitest";

export function soon<T>(check: () => T | Promise<T>): Promise<T> {
  return vi.waitFor(check, { timeout: 10_000 });
}
