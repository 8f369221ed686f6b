/** Numbers of nodes, and lists of numbers, in a Record. */

import type { Ragged } from "./record.gen";

/** A node of any graph of the record as one number, to be a key in sets and maps. */
export type NodeId = number;

const GRAPH_STRIDE = 2 ** 24;

export const nodeId = (graph: number, node: number): NodeId => graph * GRAPH_STRIDE + node;
export const graphOf = (id: NodeId): number => Math.floor(id / GRAPH_STRIDE);
export const indexOf = (id: NodeId): number => id % GRAPH_STRIDE;

export const list = (ragged: Ragged, index: number): ArrayLike<number> =>
  ragged.items.subarray(ragged.starts[index] ?? 0, ragged.starts[index + 1] ?? 0);
