/** A table of costs, as the engine makes it. */

import type { AmountTable, CostTable } from "../messages.gen";

/** Amounts, each as products (into `CostTable.products`) with their scales. */
export function amounts(...each: [number, number][][]): AmountTable {
  const starts = [0];
  for (const terms of each) starts.push((starts.at(-1) ?? 0) + terms.length);
  const all = each.flat();
  return { starts, products: all.map(([product]) => product), scales: all.map(([, by]) => by) };
}

/**
 * Two ops of one symbol `s`: the node 1 does 8·s FLOPs and makes 4·s bytes, which node 2 reads; that
 * does 2·s² and makes 4·s² bytes.
 */
export function smallTable(changes: Partial<CostTable> = {}): CostTable {
  return {
    factors: [["d0"]],
    products: [[0, 1], [0, 2], []],
    nodes: [1, 2],
    unknown: [],
    flops: amounts([[0, 8]], [[1, 2]]),
    read: amounts([[0, 4]], [[0, 4]]),
    written: amounts([[0, 4]], [[1, 4]]),
    makers: [1, 2],
    lasts: [2, 3],
    held: amounts([[0, 4]], [[1, 4]]),
    scratch: amounts([], [[0, 1]]),
    inputs: amounts([[0, 4]]),
    parameters: 10,
    weights: 40,
    devices: [{ name: "Quick", flops: 1e12, bandwidth: 1e11, memory: 0 }],
    ...changes,
  };
}
