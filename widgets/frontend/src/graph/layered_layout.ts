/**
 * A simple layered layout: each box in a row below what it reads, close to it. It is fast at any
 * size and needs no WebAssembly; Graphviz's result looks better where it can finish in time.
 */

import type { Arrangement, LayoutLink, PlacedLink } from "./layout_types";

const ROW_GAP = 34;
const BOX_GAP = 18;
/** A row that would be wider continues in the next. */
const WIDEST_ROW = 2400;

/** The rank of each box in a group: one more than the highest rank that it reads. */
export function ranksOf(count: number, links: readonly LayoutLink[]): number[] {
  const ranks: number[] = new Array(count).fill(0);
  const after: number[][] = ranks.map(() => []);
  for (const [from, to] of links) if (from < to) after[from]?.push(to);
  // Boxes are numbered in execution order: one pass is enough, and back edges are ignored.
  for (let at = 0; at < count; at++) {
    for (const to of after[at] ?? []) ranks[to] = Math.max(ranks[to] ?? 0, (ranks[at] ?? 0) + 1);
  }
  return ranks;
}

/** Arranges boxes of these sizes, those of `first` above all others. */
export function layered(
  sizes: readonly (readonly [width: number, height: number])[],
  links: readonly LayoutLink[],
  first: readonly number[],
): Arrangement {
  const ranks = ranksOf(sizes.length, links);
  for (const each of first) ranks[each] = 0;
  const reads: number[][] = sizes.map(() => []);
  for (const [from, to] of links) if (from !== to) reads[to]?.push(from);
  const boxes: [number, number][] = sizes.map(() => [0, 0]);
  let top = 0;
  for (const row of rowsOf(ranks, sizes)) {
    const height = Math.max(...row.map((each) => sizes[each]?.[1] ?? 0));
    putRow(row, sizes, reads, boxes);
    for (const each of row) (boxes[each] as [number, number])[1] = top + height / 2;
    top += height + ROW_GAP;
  }
  return framed(sizes, boxes, links, Math.max(top - ROW_GAP, 0));
}

/** The boxes of each row from the top, in the order in which they run. */
function rowsOf(
  ranks: readonly number[],
  sizes: readonly (readonly [width: number, height: number])[],
): number[][] {
  const byRank: number[][] = [];
  ranks.forEach((rank, at) => {
    byRank[rank] ??= [];
    byRank[rank].push(at);
  });
  const rows: number[][] = [];
  for (const row of byRank) {
    let open: number[] = [];
    let width = 0;
    for (const each of row ?? []) {
      const own = (sizes[each]?.[0] ?? 0) + BOX_GAP;
      if (open.length > 0 && width + own > WIDEST_ROW) {
        rows.push(open);
        [open, width] = [[], 0];
      }
      open.push(each);
      width += own;
    }
    if (open.length > 0) rows.push(open);
  }
  return rows;
}

/** Places the boxes of a row side by side, each as close below its inputs as possible. */
function putRow(
  row: number[],
  sizes: readonly (readonly [width: number, height: number])[],
  reads: readonly (readonly number[])[],
  boxes: [number, number][],
): void {
  const wish = new Map(row.map((each) => [each, middleOf(reads[each] ?? [], boxes)]));
  row.sort((a, b) => (wish.get(a) ?? 0) - (wish.get(b) ?? 0) || a - b);
  let right = Number.NEGATIVE_INFINITY;
  let shift = 0;
  for (const each of row) {
    const half = (sizes[each]?.[0] ?? 0) / 2;
    const x = Math.max(wish.get(each) ?? 0, right + half);
    (boxes[each] as [number, number])[0] = x;
    shift += x - (wish.get(each) ?? 0);
    right = x + half + BOX_GAP;
  }
  // Those that were pushed aside were all pushed to the right.
  for (const each of row) (boxes[each] as [number, number])[0] -= shift / row.length;
}

function middleOf(read: readonly number[], boxes: readonly [number, number][]): number {
  const sum = read.reduce((total, each) => total + (boxes[each]?.[0] ?? 0), 0);
  return read.length > 0 ? sum / read.length : 0;
}

/** The arrangement with its left edge at 0, and its links drawn. */
function framed(
  sizes: readonly (readonly [width: number, height: number])[],
  boxes: [number, number][],
  links: readonly LayoutLink[],
  height: number,
): Arrangement {
  const left = Math.min(...boxes.map(([x], at) => x - (sizes[at]?.[0] ?? 0) / 2));
  const right = Math.max(...boxes.map(([x], at) => x + (sizes[at]?.[0] ?? 0) / 2));
  for (const box of boxes) box[0] -= left;
  const links_ = links.map(([from, to]) => curve(boxes, sizes, from, to));
  return { width: right - left, height, boxes, links: links_ };
}

function curve(
  boxes: readonly [number, number][],
  sizes: readonly (readonly [width: number, height: number])[],
  from: number,
  to: number,
): PlacedLink {
  const [x1, y1] = boxes[from] ?? [0, 0];
  const [x2, y2] = boxes[to] ?? [0, 0];
  const down = y2 >= y1 ? 1 : -1;
  const start = y1 + (down * (sizes[from]?.[1] ?? 0)) / 2;
  const end = y2 - (down * (sizes[to]?.[1] ?? 0)) / 2;
  const bend = (end - start) / 2;
  return { points: [x1, start, x1, start + bend, x2, end - bend, x2, end], label: null };
}
