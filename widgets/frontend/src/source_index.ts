/**
 * Which nodes were made through which lines. Many nodes share a stack, so stacks are indexed, and a
 * line's nodes are gathered on demand. Pure.
 */

import { ensure } from "./maps";
import { list, type NodeId, nodeId } from "./node_id";
import { OPS, type Record } from "./record.gen";

const GET_ATTR = OPS.indexOf("get_attr");

export class SourceIndex {
  /** Per stack, its nodes in execution order. */
  private readonly nodesOf: NodeId[][] = [];
  /** Per file and line, the stacks that go through it. */
  private readonly stacksAt = new Map<number, Map<number, number[]>>();
  private readonly known = new Map<number, Map<number, readonly NodeId[]>>();

  constructor({ frames, graphs, stacks }: Record) {
    graphs.forEach(({ op, stack }, graph) => {
      for (let node = 0; node < stack.length; node++) {
        const at = stack[node] ?? -1;
        if (at < 0 || op[node] === GET_ATTR) continue; // it only names what an op of the line reads
        this.nodesOf[at] ??= [];
        this.nodesOf[at].push(nodeId(graph, node));
      }
    });
    this.nodesOf.forEach((_, stack) => {
      for (const frame of Array.from(list(stacks, stack))) {
        const file = frames.file[frame] ?? -1;
        const lines = ensure(this.stacksAt, file, () => new Map<number, number[]>());
        const through = ensure(lines, frames.line[frame] ?? 0, (): number[] => []);
        if (through.at(-1) !== stack) through.push(stack);
      }
    });
  }

  /** Nodes whose stack goes through a line, in execution order. */
  nodesAt(file: number, line: number): readonly NodeId[] {
    const lines = ensure(this.known, file, () => new Map<number, readonly NodeId[]>());
    return ensure(lines, line, () => this.merged(this.stacksAt.get(file)?.get(line) ?? []));
  }

  /** Every line of a file that some node's stack goes through. */
  linesOf(file: number): ReadonlyMap<number, readonly NodeId[]> {
    const lines = [...(this.stacksAt.get(file)?.keys() ?? [])];
    return new Map(lines.map((line) => [line, this.nodesAt(file, line)]));
  }

  /** The first line of a file that made a node; 0 where none did. */
  firstLineOf(file: number): number {
    let first = 0;
    for (const line of this.stacksAt.get(file)?.keys() ?? []) {
      if (first === 0 || line < first) first = line;
    }
    return first;
  }

  /** Per line of a file, how many nodes for which `counts` holds were made through it. */
  countsIn(file: number, counts: (id: NodeId) => boolean): Map<number, number> {
    const ofStack = new Map<number, number>();
    const found = new Map<number, number>();
    for (const [line, stacks] of this.stacksAt.get(file) ?? []) {
      let count = 0;
      for (const stack of stacks) {
        count += ensure(ofStack, stack, () => (this.nodesOf[stack] ?? []).filter(counts).length);
      }
      if (count > 0) found.set(line, count);
    }
    return found;
  }

  /** How many nodes were made through any line of a file. */
  countOf(file: number): number {
    const stacks = new Set([...(this.stacksAt.get(file)?.values() ?? [])].flat());
    let count = 0;
    for (const stack of stacks) count += this.nodesOf[stack]?.length ?? 0;
    return count;
  }

  private merged(stacks: readonly number[]): readonly NodeId[] {
    const [only] = stacks;
    if (stacks.length === 1 && only !== undefined) return this.nodesOf[only] ?? [];
    return stacks.flatMap((stack) => this.nodesOf[stack] ?? []).sort((a, b) => a - b);
  }
}
