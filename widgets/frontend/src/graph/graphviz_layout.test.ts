import { expect, test, vi } from "vitest";
import { Placer } from "./graphviz_layout";
import { Lanes } from "./lanes";
import type { LayoutBox, LayoutLink } from "./layout_types";

const leaf: LayoutBox = { width: 60, height: 24 };

/** A flat group, each box of which reads the one before, and some of which read the first. */
function flat(count: number, far: number): LayoutBox {
  const links: LayoutLink[] = [];
  for (let to = 1; to < count; to++) {
    links.push([to - 1, to, 0]);
    if (to <= far) links.push([0, count - to, 0]);
  }
  return { width: 0, height: 0, children: Array.from({ length: count }, () => leaf), links };
}

/** As Graphviz would answer, had it put all boxes on top of each other. */
const dot = (source: string): string => {
  const objects = (source.match(/^\d+\[width/gm) ?? []).map((_, at) => ({
    name: `${at}`,
    pos: "30,12",
  }));
  return JSON.stringify({ bb: "0,0,60,24", objects, edges: [] });
};

test("Graphviz is not asked for what it would take too long for", () => {
  const asked = vi.fn(dot);
  const placer = new Placer(asked);
  placer.place(flat(100, 0));
  expect(asked).toHaveBeenCalledTimes(1);
  const placed = placer.place(flat(400, 300));
  expect(asked).toHaveBeenCalledTimes(1);
  const rows = new Set(placed.children?.map(({ y }) => y));
  expect(rows.size).toBe(400);
});

test("where the time of a request is over, the rest is laid out plainly, and better the next time", () => {
  let now = 0;
  vi.spyOn(performance, "now").mockImplementation(() => now);
  const asked = vi.fn((source: string) => {
    now += 2000;
    return dot(source);
  });
  const placer = new Placer(asked);
  const groups = [4, 5, 6, 7].map((count) => flat(count, 0));
  const box: LayoutBox = { width: 0, height: 0, children: groups, links: [] };
  placer.place(box);
  expect(asked).toHaveBeenCalledTimes(2);
  placer.place(box);
  expect(asked).toHaveBeenCalledTimes(4);
  vi.restoreAllMocks();
});

test("without Graphviz all is laid out plainly", () => {
  const placed = new Placer(null).place(flat(10, 3));
  expect(new Set(placed.children?.map(({ y }) => y)).size).toBe(10);
});

test("lanes take turns, group by group, and a lane forgets what it was asked before", async () => {
  const lanes = new Lanes(new Placer(dot), async () => undefined);
  const many = (from: number): LayoutBox => ({
    width: 0,
    height: 0,
    children: Array.from({ length: 20 }, (_, at) => flat(from + at, 0)),
    links: [],
  });
  const order: string[] = [];
  const say = (what: string) => (placed: unknown) => void order.push(placed ? what : `no ${what}`);
  const all = [
    lanes.place(1, many(10)).then(say("first")),
    lanes.place(2, flat(3, 0)).then(say("small")),
    lanes.place(1, many(50)).then(say("second")),
    lanes.place(3, many(90)).then(say("dropped")),
  ];
  lanes.drop(3);
  await Promise.all(all);
  expect(order.slice().sort()).toEqual(["no dropped", "no first", "second", "small"].sort());
  expect(order.indexOf("small")).toBeLessThan(order.indexOf("second"));
});

test("what cannot be laid out fails alone", async () => {
  const failing = (source: string): string => {
    if (source.includes("3[width")) throw new Error("too large");
    return dot(source);
  };
  const lanes = new Lanes(new Placer(failing), async () => undefined);
  const bad = lanes.place(1, flat(9, 0));
  const good = lanes.place(2, flat(2, 0));
  await expect(bad).rejects.toThrow("too large");
  expect(await good).not.toBeNull();
});
