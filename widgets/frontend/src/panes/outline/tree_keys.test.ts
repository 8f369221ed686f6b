import { beforeEach, expect, test } from "vitest";
import { buildForest } from "../../forest/forest";
import { layeredProgram } from "../../testing/models";
import { outlineRows, type Row } from "./outline_rows";
import { treeKeys } from "./tree_keys";

const forest = buildForest(layeredProgram(2), { housekeeping: false, parameters: false });
let rows: Row[] = [];
let active = 0;
let toggled: string[] = [];
let time = 0;
const keys = treeKeys(() => time);

/** Presses a key, and tells whether the tree took it. */
function press(key: string): boolean {
  const event = new KeyboardEvent("keydown", { key, cancelable: true });
  keys(event, {
    rows,
    active,
    go: (row) => {
      active = Math.min(Math.max(row, 0), rows.length - 1);
    },
    toggle: (item) => toggled.push(item.title),
  });
  return event.defaultPrevented;
}

beforeEach(() => {
  rows = outlineRows(forest, new Set());
  active = 0;
  toggled = [];
  time += 10_000;
});

test("arrows, Home and End walk along the rows", () => {
  press("ArrowDown");
  press("ArrowDown");
  expect(active).toBe(2);
  press("End");
  expect(rows[active]?.item.title).toBe("output");
  press("Home");
  press("ArrowUp");
  expect(active).toBe(0);
});

test("right opens a closed module, left goes up from what is in it", () => {
  active = rows.findIndex(({ item }) => item.title === "encoder");
  press("ArrowRight");
  expect(toggled).toEqual(["encoder"]);
  const encoder = rows[active]?.item;
  rows = outlineRows(forest, new Set([encoder?.key ?? ""]));
  active += 1;
  press("ArrowLeft");
  expect(rows[active]?.item).toBe(encoder);
});

test("typing a name goes to it; a pause begins a new one", () => {
  press("o");
  expect(rows[active]?.item.title).toBe("ones");
  press("u");
  expect(rows[active]?.item.title).toBe("output");
  time += 1000;
  press("e");
  expect(["embed", "encoder"]).toContain(rows[active]?.item.title);
});

test("keys with Ctrl, the search key and keys of others are left alone", () => {
  expect(press("/")).toBe(false);
  expect(press("Escape")).toBe(false);
  expect(press("Tab")).toBe(false);
});
