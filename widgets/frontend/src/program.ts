/**
 * The Record as views read it: tables resolved, users and source lines indexed. Pure: it touches
 * neither the page nor the kernel.
 */

import { graphOf, indexOf, list, type NodeId, nodeId } from "./node_id";
import type {
  Graph,
  InputEntry,
  OutputEntry,
  Ragged,
  Record,
  Target,
  ValueType,
} from "./record.gen";
import { OPS } from "./record.gen";
import { SourceIndex } from "./source_index";

export { graphOf, indexOf, list, type NodeId, nodeId };

/** A frame of a stack: where a line of the user's, a library's or torch's code was. */
export interface Frame {
  file: number;
  line: number;
  function: string;
}

/** A piece of a node's printed arguments: plain text, or another node. */
export type ArgumentPiece = { text: string } | { node: NodeId };

/** A piece of a text about sizes; `symbol` is -1 for text between symbols. */
export interface TextPiece {
  text: string;
  symbol: number;
}

export class Program {
  /** Per graph, the nodes that read each node; made on first use. */
  private readonly users: Ragged[] = [];
  private sourceIndex: SourceIndex | null = null;
  private readonly inputAt = new Map<number, InputEntry>();
  private readonly nestedIn = new Map<number, { node: NodeId; argument: string }>();
  /** Stacks that were read: many ops share one. */
  private readonly stacks: Frame[][] = [];
  private readonly symbolsOf = new Map<string, readonly number[]>();

  constructor(readonly record: Record) {
    for (const expression of record.expressions) {
      this.symbolsOf.set(expression.text, expression.symbols);
    }
    for (const entry of record.signature.inputs) {
      if (entry.node >= 0) this.inputAt.set(nodeId(0, entry.node), entry);
    }
    record.graphs.forEach((graph, index) => {
      for (const nested of graph.nested) {
        const node = nodeId(index, nested.node);
        this.nestedIn.set(nested.graph, { node, argument: nested.argument });
      }
    });
  }

  graph(index: number): Graph {
    const graph = this.record.graphs[index];
    if (!graph) throw new RangeError(`the record has no graph ${index}`);
    return graph;
  }

  name(id: NodeId): string {
    return this.string(this.graph(graphOf(id)).name[indexOf(id)]);
  }

  op(id: NodeId): (typeof OPS)[number] {
    return OPS[this.graph(graphOf(id)).op[indexOf(id)] ?? 0] ?? "placeholder";
  }

  target(id: NodeId): Target | undefined {
    return this.record.targets[this.targetIndex(id)];
  }

  /** Index into `record.targets`; -1 for none. */
  targetIndex(id: NodeId): number {
    return this.graph(graphOf(id)).target[indexOf(id)] ?? -1;
  }

  type(id: NodeId): ValueType | undefined {
    return this.record.types[this.typeIndex(id)];
  }

  /** Index into `record.types`; -1 for none. */
  typeIndex(id: NodeId): number {
    return id < 0 ? -1 : (this.graph(graphOf(id)).type[indexOf(id)] ?? -1);
  }

  /** Index into `record.scopes`; -1 outside every module. */
  scope(id: NodeId): number {
    return this.graph(graphOf(id)).scope[indexOf(id)] ?? -1;
  }

  /** Index into its graph's groups; -1 for none. */
  group(id: NodeId): number {
    return this.graph(graphOf(id)).group[indexOf(id)] ?? -1;
  }

  isHousekeeping(id: NodeId): boolean {
    return this.graph(graphOf(id)).housekeeping[indexOf(id)] === 1;
  }

  /** The signature's entry of a placeholder of the main graph. */
  input(id: NodeId): InputEntry | undefined {
    return this.inputAt.get(id);
  }

  /** The signature's entries that a node of the main graph is the value of. */
  outputs(id: NodeId): OutputEntry[] {
    if (graphOf(id) !== 0) return [];
    return this.record.signature.outputs.filter((entry) => entry.node === indexOf(id));
  }

  /** The node that runs a nested graph, and what it calls it; undefined for the main graph. */
  parentOf(graph: number): { node: NodeId; argument: string } | undefined {
    return this.nestedIn.get(graph);
  }

  /** The graphs that a node runs, each with its nodes. */
  branchesOf(id: NodeId): { argument: string; nodes: NodeId[] }[] {
    const nested = this.graph(graphOf(id)).nested.filter((each) => each.node === indexOf(id));
    return nested.map(({ argument, graph }) => ({
      argument,
      nodes: Array.from(this.graph(graph).name, (_, node) => nodeId(graph, node)),
    }));
  }

  /** The node that runs the graph a node is in; undefined in the main graph. */
  runnerOf(id: NodeId): { node: NodeId; argument: string } | undefined {
    return this.parentOf(graphOf(id));
  }

  /** The parameters, buffers and constants that some nodes of the main graph are or read. */
  heldBy(nodes: readonly NodeId[]): InputEntry[] {
    const found = new Set<InputEntry>();
    for (const id of nodes) {
      for (const input of [id, ...this.inputsOf(id)]) {
        const entry = this.input(input);
        if (entry && entry.kind !== "user_input") found.add(entry);
      }
    }
    return [...found];
  }

  inputsOf(id: NodeId): NodeId[] {
    const graph = graphOf(id);
    const { starts, items } = this.graph(graph).inputs;
    const [from, to] = [starts[indexOf(id)] ?? 0, starts[indexOf(id) + 1] ?? 0];
    const nodes: NodeId[] = []; // a plain loop: this runs for every node, often
    for (let at = from; at < to; at++) nodes.push(nodeId(graph, items[at] ?? 0));
    return nodes;
  }

  usersOf(id: NodeId): NodeId[] {
    const graph = graphOf(id);
    this.users[graph] ??= usersIn(this.graph(graph));
    const { starts, items } = this.users[graph];
    const [from, to] = [starts[indexOf(id)] ?? 0, starts[indexOf(id) + 1] ?? 0];
    const nodes: NodeId[] = [];
    for (let at = from; at < to; at++) nodes.push(nodeId(graph, items[at] ?? 0));
    return nodes;
  }

  /** Index into `record.strings` of the printed arguments, in which nodes are numbered. */
  argumentsIndex(id: NodeId): number {
    return this.graph(graphOf(id)).args[indexOf(id)] ?? -1;
  }

  /** The printed arguments, with the nodes among them as nodes. */
  argumentPieces(id: NodeId): ArgumentPiece[] {
    const template = this.string(this.argumentsIndex(id));
    const inputs = this.inputsOf(id);
    return template.split(/(\{\d+\}|\{\{|\}\})/).flatMap((piece): ArgumentPiece[] => {
      if (piece === "") return [];
      if (piece === "{{" || piece === "}}") return [{ text: piece.charAt(0) }];
      const node = /^\{\d+\}$/.test(piece) ? inputs[Number(piece.slice(1, -1))] : undefined;
      return [node === undefined ? { text: piece } : { node }];
    });
  }

  /** The call stack of a node, the outermost call first. */
  stack(id: NodeId): Frame[] {
    return this.stackAt(this.stackIndex(id));
  }

  /** Index into `record.stacks`; -1 for none. */
  stackIndex(id: NodeId): number {
    return this.graph(graphOf(id)).stack[indexOf(id)] ?? -1;
  }

  stackAt(stack: number): Frame[] {
    if (stack < 0) return [];
    const known = this.stacks[stack];
    if (known) return known;
    const { file, line, function: fn } = this.record.frames;
    const made = Array.from(list(this.record.stacks, stack), (frame) => ({
      file: file[frame] ?? -1,
      line: line[frame] ?? 0,
      function: this.string(fn[frame]),
    }));
    this.stacks[stack] = made;
    return made;
  }

  /** Nodes whose stack goes through a line, in execution order. */
  nodesAt(file: number, line: number): readonly NodeId[] {
    return this.source.nodesAt(file, line);
  }

  /** Which nodes were made through which lines. */
  get source(): SourceIndex {
    this.sourceIndex ??= new SourceIndex(this.record);
    return this.sourceIndex;
  }

  /** Indices of the symbols in a size's text, in order of appearance. */
  symbolsIn(text: string): readonly number[] {
    return this.symbolsOf.get(text) ?? [];
  }

  /** A size's text in pieces, with the symbols marked: `2*`, `batch`. */
  sizePieces(size: string): TextPiece[] {
    return this.pieces(size, this.symbolsIn(size));
  }

  /** A text in pieces, with the names of some symbols marked. */
  pieces(text: string, symbols: readonly number[]): TextPiece[] {
    const names = symbols.map((symbol) => this.record.symbols[symbol]?.name ?? "");
    const known = names.filter(Boolean).sort((a, b) => b.length - a.length);
    if (known.length === 0) return [{ text, symbol: -1 }];
    const escaped = known.map((name) => name.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
    return text
      .split(new RegExp(`(?<![\\w.])(${escaped.join("|")})(?!\\w)`))
      .filter(Boolean)
      .map((piece) => ({ text: piece, symbol: symbols[names.indexOf(piece)] ?? -1 }));
  }

  /** Indices of the symbols that a type's sizes are made of. */
  symbolsOfType(type: ValueType | undefined): Set<number> {
    const found = new Set<number>();
    if (!type) return found;
    for (const size of [...type.shape, type.value]) {
      if (typeof size === "string") for (const symbol of this.symbolsIn(size)) found.add(symbol);
    }
    for (const item of type.items) {
      for (const symbol of this.symbolsOfType(this.record.types[item])) found.add(symbol);
    }
    return found;
  }

  *allNodes(): Generator<NodeId> {
    for (let graph = 0; graph < this.record.graphs.length; graph++) {
      const count = this.graph(graph).name.length;
      for (let node = 0; node < count; node++) yield nodeId(graph, node);
    }
  }

  private string(index: number | undefined): string {
    return this.record.strings[index ?? -1] ?? "";
  }
}

/** The nodes that read each node, each once, in execution order. */
function usersIn({ inputs, name }: Graph): Ragged {
  const count = name.length;
  const starts = new Int32Array(count + 1);
  const last = new Int32Array(count).fill(-1);
  const visit = (take: (read: number, node: number) => void): void => {
    last.fill(-1);
    for (let node = 0; node < count; node++) {
      const end = inputs.starts[node + 1] ?? 0;
      for (let at = inputs.starts[node] ?? 0; at < end; at++) {
        const read = inputs.items[at] ?? -1;
        if (read < 0 || last[read] === node) continue; // the same one may be read twice
        last[read] = node;
        take(read, node);
      }
    }
  };
  visit((read) => {
    starts[read + 1] = (starts[read + 1] ?? 0) + 1;
  });
  for (let node = 0; node < count; node++)
    starts[node + 1] = (starts[node + 1] ?? 0) + (starts[node] ?? 0);
  const items = new Int32Array(starts[count] ?? 0);
  const next = starts.slice();
  visit((read, node) => {
    items[next[read] ?? 0] = node;
    next[read] = (next[read] ?? 0) + 1;
  });
  return { starts, items };
}
