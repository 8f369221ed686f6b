/**
 * Two programs merged: every node of the one on screen, plus the other's nodes that have no match.
 * One layout serves both sides, so that matching nodes are at the same place. Pure.
 */

import { type NodeId, nodeId, Program } from "../program";
import type { Column, Graph, GraphDiff, ProgramDiff, Record } from "../record.gen";
import { AFTER, BEFORE, type Kind, type Merged } from "../two_programs";
import { mergeGroups } from "./groups";
import { Tables } from "./tables";

export function merge(before: Program, after: Program, diff: ProgramDiff): Merged {
  return new Merger(before, after, diff).run();
}

class Merger {
  private readonly tables: Tables;
  /** Per node of the program before, its number in the merged one. */
  private readonly numbers = new Map<NodeId, NodeId>();
  private readonly kinds = new Map<NodeId, Kind>();
  private readonly notes = new Map<NodeId, string[]>();
  private readonly removed = new Map<NodeId, NodeId>();
  /** Per graph of the program before, the graph of the merged one. */
  private readonly graphs = new Map<number, number>();

  constructor(
    private readonly before: Program,
    private readonly after: Program,
    private readonly diff: ProgramDiff,
  ) {
    this.tables = new Tables(before.record, after.record, diff.symbols);
  }

  run(): Merged {
    const { record } = this.after;
    const pairs = new Map(this.diff.graphs.map((each) => [each.after, each]));
    for (const each of this.diff.graphs) this.match(each);
    const lone = this.before.record.graphs.flatMap((_, graph) =>
      this.graphs.has(graph) ? [] : [graph],
    );
    lone.forEach((graph, at) => {
      this.matchLone(graph, record.graphs.length + at);
    });
    const graphs = record.graphs.map((graph, at) => this.graph(graph, at, pairs.get(at)));
    const gone = lone.map((graph) => this.goneGraph(graph));
    const program = new Program(this.record([...graphs, ...gone]));
    for (const [at, graph] of record.graphs.entries()) {
      if (pairs.has(at)) continue;
      for (let node = 0; node < graph.name.length; node++)
        this.kinds.set(nodeId(at, node), "added");
    }
    const merged = new Map([...this.removed].map(([number, node]) => [node, number]));
    const twins = new Map([...this.numbers].map(([node, number]) => [number, node]));
    const { before, kinds, notes, removed } = this;
    const { after } = this;
    const sidesOf = this.sides();
    return { program, kinds, notes, removed, merged, before, after, twins, sidesOf };
  }

  private match(diff: GraphDiff): void {
    const { before, after } = diff;
    this.graphs.set(before, after);
    const count = this.after.graph(after).name.length;
    for (const pair of diff.pairs) {
      const id = nodeId(after, pair.after);
      this.numbers.set(nodeId(before, pair.before), id);
      const changes = pair.changes.filter((change) => !change.follows);
      if (changes.length === 0) continue;
      this.kinds.set(id, "changed");
      this.notes.set(
        id,
        changes.map(({ what, before }) => `${what} was ${before || "none"}`),
      );
    }
    for (const node of diff.added) this.kinds.set(nodeId(after, node), "added");
    diff.removed.forEach((node, at) => {
      this.gone(nodeId(before, node), nodeId(after, count + at));
    });
  }

  /** A graph that only the program before has. */
  private matchLone(graph: number, number: number): void {
    this.graphs.set(graph, number);
    const { length } = this.before.graph(graph).name;
    for (let node = 0; node < length; node++) this.gone(nodeId(graph, node), nodeId(number, node));
  }

  private gone(node: NodeId, number: NodeId): void {
    this.numbers.set(node, number);
    this.removed.set(number, node);
    this.kinds.set(number, "removed");
  }

  /** A graph of the program on screen, with the nodes that its partner alone has. */
  private graph(graph: Graph, at: number, diff: GraphDiff | undefined): Graph {
    if (!diff) return graph;
    const old = this.before.graph(diff.before);
    const partner = new Map(diff.pairs.map((pair) => [pair.after, pair.before]));
    const lists = Array.from(graph.name, (_, node) => {
      const own = this.after.inputsOf(nodeId(at, node)).map((id) => id - nodeId(at, 0));
      const twin = partner.get(node);
      const theirs = twin === undefined ? [] : this.inputs(nodeId(diff.before, twin), at);
      return [...own, ...theirs.filter((input) => !own.includes(input))];
    });
    for (const node of diff.removed) lists.push(this.inputs(nodeId(diff.before, node), at));
    const known = new Set(graph.nested.map(({ node, argument }) => `${node} ${argument}`));
    const nested = this.nested(diff.before, at).filter(
      ({ node, argument }) => !known.has(`${node} ${argument}`),
    );
    return {
      ...this.columns(graph, old, diff.removed),
      title: graph.title,
      inputs: ragged(lists),
      nested: [...graph.nested, ...nested],
    };
  }

  private goneGraph(graph: number): Graph {
    const old = this.before.graph(graph);
    const number = this.graphs.get(graph) ?? -1;
    const all = Array.from(old.name, (_, node) => node);
    const empty = { ...old, ...EMPTY };
    return {
      ...this.columns(empty, old, all),
      title: old.title,
      inputs: ragged(all.map((node) => this.inputs(nodeId(graph, node), number))),
      nested: this.nested(graph, number),
    };
  }

  /** The columns of a graph, followed by those of some nodes of another. */
  private columns(
    graph: Graph,
    old: Graph,
    nodes: readonly number[],
  ): Omit<Graph, "inputs" | "nested" | "title"> {
    const join = (own: Column, theirs: Column, map = (value: number): number => value): Column =>
      Int32Array.from([...own, ...nodes.map((node) => map(theirs[node] ?? -1))]);
    const { tables } = this;
    const { groups, numbers } = mergeGroups(graph.groups, old.groups, (each) => tables.scope(each));
    return {
      name: join(graph.name, old.name, (each) => tables.string(each)),
      op: join(graph.op, old.op),
      target: join(graph.target, old.target, (each) => tables.target(each)),
      type: join(graph.type, old.type, (each) => tables.type(each)),
      scope: join(graph.scope, old.scope, (each) => tables.scope(each)),
      stack: join(graph.stack, old.stack, () => -1), // lines are shown beside the program before
      args: join(graph.args, old.args, (each) => tables.string(each)),
      housekeeping: join(graph.housekeeping, old.housekeeping),
      group: join(graph.group, old.group, (each) => numbers[each] ?? -1),
      groups,
    };
  }

  /** The inputs of a node of the earlier program, by numbers in a graph of the merged one. */
  private inputs(node: NodeId, graph: number): number[] {
    return this.before
      .inputsOf(node)
      .map((input) => (this.numbers.get(input) ?? -1) - nodeId(graph, 0))
      .filter((input) => input >= 0);
  }

  private nested(graph: number, number: number): Graph["nested"] {
    return this.before.graph(graph).nested.map((each) => ({
      node: (this.numbers.get(nodeId(graph, each.node)) ?? 0) - nodeId(number, 0),
      graph: this.graphs.get(each.graph) ?? 0,
      argument: each.argument,
      holder: (this.numbers.get(nodeId(graph, each.holder)) ?? 0) - nodeId(number, 0),
    }));
  }

  private record(graphs: Graph[]): Record {
    const { record } = this.after;
    const gone = this.before.record.signature.inputs.flatMap((entry) => {
      const node = this.numbers.get(nodeId(0, entry.node));
      const alone = node !== undefined && this.removed.has(node);
      return alone ? [{ ...entry, node, type: this.tables.type(entry.type) }] : [];
    });
    const inputs = [...record.signature.inputs, ...gone];
    return {
      ...record,
      ...this.tables.merged(),
      graphs,
      signature: { ...record.signature, inputs },
    };
  }

  private sides(): Merged["sidesOf"] {
    const [mine, theirs] = [new Set<string>(), new Set<string>()];
    for (const id of this.after.allNodes()) {
      for (const input of this.after.inputsOf(id)) theirs.add(`${input}>${id}`);
    }
    for (const id of this.before.allNodes()) {
      for (const input of this.before.inputsOf(id)) {
        mine.add(`${this.numbers.get(input)}>${this.numbers.get(id)}`);
      }
    }
    return (value, user) => {
      const key = `${value}>${user}`;
      return (mine.has(key) ? BEFORE : 0) | (theirs.has(key) ? AFTER : 0);
    };
  }
}

const NONE: Column = new Int32Array(0);
const EMPTY = {
  name: NONE,
  op: NONE,
  target: NONE,
  type: NONE,
  scope: NONE,
  stack: NONE,
  args: NONE,
  housekeeping: NONE,
  group: NONE,
  groups: [],
};

function ragged(lists: readonly (readonly number[])[]): Graph["inputs"] {
  const starts = [0];
  for (const list of lists) starts.push((starts.at(-1) ?? 0) + list.length);
  return { starts: Int32Array.from(starts), items: Int32Array.from(lists.flat()) };
}
