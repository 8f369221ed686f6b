/**
 * Which items read which, in columns: the edges of a container are found in one pass over what is
 * in it, however many ops the program has. Pure.
 */

import { graphOf, indexOf, type NodeId, nodeId, type Program } from "../program";
import type { Forest, Item } from "./items";

export interface Reads {
  /** The items, each at its place. */
  items: readonly Item[];
  /** Per place, where the reads of its item start; those of the next place follow. */
  starts: Int32Array;
  /** Per read, the place of the item that is read, and the node whose value it is. */
  from: Int32Array;
  values: Float64Array;
  /** Per place, the first and the last place that reads its item; -1 for none. */
  firstReader: Int32Array;
  lastReader: Int32Array;
}

/** Reads between the items of a forest; those of folded nodes count as the op's. */
export function readsOf(program: Program, forest: Forest): Reads {
  const { items } = forest;
  const count = items.length;
  const starts = new Int32Array(count + 1);
  const firstReader = new Int32Array(count).fill(-1);
  const lastReader = new Int32Array(count).fill(-1);
  const from: number[] = [];
  const values: NodeId[] = [];
  items.forEach((item, place) => {
    eachInput(program, item, (value) => {
      const read = forest.itemOf.get(value);
      if (!read || read === item || isHeld(program, item, value)) return;
      from.push(read.at);
      values.push(value);
      if (firstReader[read.at] === -1) firstReader[read.at] = place;
      lastReader[read.at] = place; // places only grow
    });
    starts[place + 1] = from.length;
  });
  return {
    items,
    starts,
    from: Int32Array.from(from),
    values: Float64Array.from(values),
    firstReader,
    lastReader,
  };
}

function eachInput(program: Program, { folded, node }: Item, take: (value: NodeId) => void): void {
  if (node < 0 || program.op(node) === "placeholder") return;
  inputsOf(program, node, take);
  for (const each of folded ?? []) inputsOf(program, each, take);
}

function inputsOf(program: Program, node: NodeId, take: (value: NodeId) => void): void {
  const graph = graphOf(node);
  const { items, starts } = program.graph(graph).inputs;
  const end = starts[indexOf(node) + 1] ?? 0;
  for (let at = starts[indexOf(node)] ?? 0; at < end; at++) take(nodeId(graph, items[at] ?? 0));
}

/** Whether a value is a weight shown in the box of the op that reads it. */
function isHeld(program: Program, { held }: Item, value: NodeId): boolean {
  if (held.length === 0 || program.op(value) !== "placeholder") return false;
  return held.some((each) => each.node === value);
}
