import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { LayoutBox } from "./layout_types";

const leaf: LayoutBox = { width: 60, height: 24 };
const box: LayoutBox = { width: 0, height: 0, children: [leaf, leaf], links: [[0, 1, 30]] };

beforeEach(() => vi.resetModules()); // the layouter is one per page

afterEach(() => vi.unstubAllGlobals());

async function placed() {
  const { layouter } = await import("./layout");
  const placed = await layouter().place(box);
  const [first, second] = placed?.children ?? [];
  const points = placed?.links?.[0]?.points.length ?? 0;
  return { below: (second?.y ?? 0) > (first?.y ?? 0), points };
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

test("a page that has neither workers nor their code lays out plainly", async () => {
  vi.stubGlobal("Worker", undefined);
  vi.spyOn(URL, "createObjectURL").mockReturnValue("data:text/javascript,throw new Error()");
  const { below, points } = await placed();
  vi.restoreAllMocks();
  expect(below).toBe(true);
  expect(points).toBe(8);
});

/** A flat group whose edges are long: Graphviz alone would take many seconds. */
function tangle(count: number): LayoutBox {
  const links = Array.from({ length: 3 * count }, (_, at): [number, number, number] => {
    const to = 1 + (at % (count - 1));
    return [at < count ? to - 1 : (at * 7919) % to, to, 0];
  });
  return { width: 0, height: 0, children: Array.from({ length: count }, () => leaf), links };
}

test("a view does not wait for what another one wants, nor for what it no longer wants", async () => {
  const { layouter } = await import("./layout");
  const [large, small] = [layouter(), layouter()];
  await small.place(box);
  const groups = Array.from({ length: 12 }, (_, at) => tangle(60 + at));
  const order: string[] = [];
  const slow = large.place({ width: 0, height: 0, children: groups, links: [] });
  const overtaken = slow.then((placed) => order.push(placed ? "all of it" : "overtaken"));
  await small.place(tangle(5));
  order.push("small");
  await large.place(box);
  order.push("large");
  await overtaken;
  expect(order[0]).toBe("small");
  expect(order).toContain("overtaken");
});
