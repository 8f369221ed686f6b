import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { LayoutBox } from "./layout_types";

const leaf: LayoutBox = { width: 60, height: 24 };
const box: LayoutBox = { width: 0, height: 0, children: [leaf, leaf], links: [[0, 1, 30]] };

beforeEach(() => vi.resetModules()); // the layouter is one per page

afterEach(() => vi.unstubAllGlobals());

async function placed() {
  const { layouter } = await import("./layout");
  const { children, links } = await layouter().place(box);
  const [first, second] = children ?? [];
  return { below: (second?.y ?? 0) > (first?.y ?? 0), points: links?.[0]?.points.length ?? 0 };
}

test("a layout comes from a worker", async () => {
  const made = vi.fn();
  const Plain = Worker;
  vi.stubGlobal(
    "Worker",
    class extends Plain {
      constructor(...args: ConstructorParameters<typeof Worker>) {
        super(...args);
        made();
      }
    },
  );
  expect((await placed()).below).toBe(true);
  expect(made).toHaveBeenCalledOnce();
});

test("a page that refuses to make workers lays out by itself", async () => {
  vi.stubGlobal(
    "Worker",
    class {
      constructor() {
        throw new DOMException("refused", "SecurityError");
      }
    },
  );
  const { below, points } = await placed();
  expect(below).toBe(true);
  expect(points).toBeGreaterThanOrEqual(8);
});

test("a page that refuses a worker after it was made lays out by itself", async () => {
  vi.stubGlobal(
    "Worker",
    class {
      onerror: (() => void) | null = null;
      postMessage() {
        setTimeout(() => this.onerror?.(), 10);
      }
      terminate() {}
    },
  );
  expect((await placed()).below).toBe(true);
});
