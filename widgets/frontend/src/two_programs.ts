/** Two programs as one: `compare` makes it, and `graph` draws it. */

import type { NodeId, Program } from "./program";

/** How a node of one differs from the other. */
export type Kind = "changed" | "added" | "removed";

/** Which of the two programs something is in, as bits. */
export const BEFORE = 1;
export const AFTER = 2;
export const BOTH = 3;

export interface Merged {
  /** Nodes of the program on screen keep their numbers; removed nodes come after them. */
  program: Program;
  /** Nodes that differ themselves, and how. */
  kinds: ReadonlyMap<NodeId, Kind>;
  /** Per changed node, what it was: `type was f32[8]`. */
  notes: ReadonlyMap<NodeId, readonly string[]>;
  /** Per removed node, the node of the program before; and the other way. */
  removed: ReadonlyMap<NodeId, NodeId>;
  merged: ReadonlyMap<NodeId, NodeId>;
  /** The program before, and per node that both have, its node there. */
  before: Program;
  /** The program on screen. */
  after: Program;
  twins: ReadonlyMap<NodeId, NodeId>;
  /** The programs in which one node reads another. */
  sidesOf(value: NodeId, user: NodeId): number;
}
