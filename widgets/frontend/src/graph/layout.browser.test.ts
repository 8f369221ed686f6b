import { afterEach, beforeEach, expect, test, vi } from "vitest";
import code from "../layout_asset";
import type { LayoutBox } from "./layout_types";

const PAGE_MODULE = new URL("./layout.ts", import.meta.url).href;
const leaf: LayoutBox = { width: 60, height: 24 };
const box: LayoutBox = { width: 0, height: 0, children: [leaf, leaf], links: [[0, 1, 30]] };

let page: typeof import("./layout");
let pages = 0;

beforeEach(async () => {
  // The layouter is one per page, and a browser imports a module anew only by another address
  page = await import(/* @vite-ignore */ `${PAGE_MODULE}?page=${pages++}`);
});

afterEach(() => vi.unstubAllGlobals());

async function placed(worker = Promise.resolve(code)) {
  const { layouter, startLayouts } = page;
  startLayouts(worker);
  const placed = await layouter().place(box);
  const [first, second] = placed?.children ?? [];
  const points = placed?.links?.[0]?.points.length ?? 0;
  return { below: (second?.y ?? 0) > (first?.y ?? 0), points };
}

/** Counts how often the page makes a worker. */
function countWorkers() {
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
  return made;
}

test("a layout comes from a worker", async () => {
  const made = countWorkers();
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

test("a page to which the code does not come lays out plainly, until a view brings it", async () => {
  const made = countWorkers();
  const gone = Promise.reject(new Error("the kernel is gone"));
  gone.catch(() => {});
  expect(await placed(gone)).toEqual({ below: true, points: 8 });
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  const never = placed(new Promise(() => {}));
  await vi.advanceTimersByTimeAsync(10_000);
  vi.useRealTimers();
  expect(await never).toEqual({ below: true, points: 8 });
  expect(made).not.toHaveBeenCalled();
  expect((await placed()).below).toBe(true);
  expect((await placed()).below).toBe(true);
  expect(made).toHaveBeenCalledOnce();
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
  const { layouter, startLayouts } = page;
  startLayouts(Promise.resolve(code));
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
