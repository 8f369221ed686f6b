/**
 * Groups of many boxes, cut into chunks that can be laid out and read. A trace without modules, or
 * a function of a thousand lines, would be one flat group.
 */

import { counted } from "../format";
import type { Frame, Program } from "../program";
import type { Forest, Item } from "./items";

/** A group with more boxes than this is cut. */
const MOST = 150;
/** A chunk has between so many boxes, if there are enough. */
const LEAST_CHUNK = 16;
const MOST_CHUNK = 48;

/** Cuts every group of a forest that is too large, in the order of the program. */
export function cutLarge(program: Program, forest: Forest): void {
  const stacks = new Map<Item, Frame[]>();
  const stackOf = (item: Item): Frame[] => {
    let known = stacks.get(item);
    if (!known) {
      const node = firstNode(item);
      known = node < 0 ? [] : program.stack(node);
      stacks.set(item, known);
    }
    return known;
  };
  const visit = (item: Item): void => {
    item.children.forEach(visit);
    while (item.children.length > MOST) {
      const fewer = cut(item, stackOf, program);
      if (fewer.length >= item.children.length) return;
      item.children = fewer;
    }
  };
  visit(forest.root);
  forest.rearranged();
}

/** The children of a group, in chunks; what comes first or last of all stands for itself. */
function cut(parent: Item, stackOf: (item: Item) => Frame[], program: Program): Item[] {
  const before = parent.children.filter((item) => item.kind === "input");
  const after = parent.children.filter((item) => item.kind === "output");
  const rest = parent.children.filter((item) => item.kind !== "input" && item.kind !== "output");
  if (rest.length <= MOST_CHUNK) return parent.children;
  // How many calls two neighbours have in common: few if the code has moved elsewhere.
  const shared = rest.map((item, at) => {
    const previous = rest[at - 1];
    return previous ? common(stackOf(previous), stackOf(item)) : 0;
  });
  const chunks: Item[] = [];
  for (let start = 0; start < rest.length; ) {
    const end = endOf(shared, start);
    chunks.push(chunk(parent, rest.slice(start, end), stackOf, program));
    start = end;
  }
  return [...before, ...chunks, ...after];
}

/** The best end of the chunk that begins at `start`: where the code moves farthest away. */
function endOf(shared: readonly number[], start: number): number {
  if (shared.length - start <= MOST_CHUNK) return shared.length;
  let best = start + MOST_CHUNK;
  for (let end = start + MOST_CHUNK; end >= start + LEAST_CHUNK; end--) {
    if ((shared[end] ?? 0) < (shared[best] ?? 0)) best = end;
  }
  return best;
}

function common(a: readonly Frame[], b: readonly Frame[]): number {
  let count = 0;
  for (; count < a.length && count < b.length; count++) {
    const [one, other] = [a[count], b[count]];
    if (one?.file !== other?.file || one?.function !== other?.function) return 2 * count;
    if (one?.line !== other?.line) return 2 * count + 1; // in one function, on another line
  }
  return 2 * count;
}

function chunk(
  parent: Item,
  children: Item[],
  stackOf: (item: Item) => Frame[],
  program: Program,
): Item {
  const first = children[0] as Item;
  const item: Item = {
    key: `${first.key}+${children.length}`,
    kind: "chunk",
    title: titleOf(children, stackOf, program),
    subtitle: "",
    node: -1,
    scope: -1,
    held: [],
    accent: "chunk",
    parent,
    children,
    ops: children.reduce((sum, each) => sum + each.ops, 0),
    at: -1,
    end: -1,
  };
  for (const each of children) each.parent = item;
  return item;
}

/** `attend · lines 12–31`: the innermost function that all of them are in, and its lines. */
function titleOf(
  children: readonly Item[],
  stackOf: (item: Item) => Frame[],
  program: Program,
): string {
  const [head, tail] = [children[0], children.at(-1)];
  if (head?.kind === "scope" && tail?.kind === "scope") return `${head.title} … ${tail.title}`;
  const stacks = children.map(stackOf).filter((stack) => stack.length > 0);
  const [first = []] = stacks;
  let depth = 0;
  while (depth < first.length && stacks.every((stack) => sameFunction(stack[depth], first[depth])))
    depth += 1;
  const within = first[depth - 1];
  if (!within) return counted(children.length, "step");
  const lines = stacks.map((stack) => stack[depth - 1]?.line ?? 0);
  const [low, high] = [Math.min(...lines), Math.max(...lines)];
  const name = within.function || fileName(program, within);
  return `${name} · ${low === high ? `line ${low}` : `lines ${low}–${high}`}`;
}

const sameFunction = (a: Frame | undefined, b: Frame | undefined): boolean =>
  a !== undefined && a.file === b?.file && a.function === b.function;

const fileName = (program: Program, { file }: Frame): string =>
  program.record.files[file]?.name.split(/[\\/]/).at(-1) ?? "";

/** The first op of an item, in the order of the program; -1 for none. */
function firstNode(item: Item): number {
  if (item.node >= 0) return item.node;
  for (const child of item.children) {
    const node = firstNode(child);
    if (node >= 0) return node;
  }
  return -1;
}
