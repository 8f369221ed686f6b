/**
 * A stage of a compilation as a program, which every view of a program can draw: its ops
 * in the modules of the ops that they come from, and kernels as boxes. Pure.
 */

import { ensure } from "../maps";
import { list, type NodeId, nodeId, Program } from "../program";
import type { Graph, Group, Kernel, Ragged, Record, StageGraph, Stages } from "../record.gen";
import { OPS } from "../record.gen";
import { StageTables } from "./stage_tables";

/** The canvas: the exported program, a graph of the compilation, or its kernels. */
export type Rung = "exported" | StageGraph["name"] | "kernels";

/** The rungs of a compilation, in order; one that the backend does not tell is not there. */
export function rungsOf({ graphs, kernels }: Stages): Rung[] {
  const own = graphs.filter(({ ops }) => ops.length > 0).map(({ name }) => name);
  const last: Rung[] = kernels.length > 0 && own.includes("post-grad") ? ["kernels"] : [];
  return ["exported", ...own, ...last];
}

/** The graph whose ops kernels compute. */
const lastGraph = ({ graphs }: Stages): StageGraph | undefined => graphs.at(-1);

/** A stage, and how its nodes hang together with those of the exported program. */
export class StageProgram {
  readonly program: Program;
  private readonly offspring = new Map<NodeId, NodeId[]>();
  private readonly byKernel = new Map<number, NodeId[]>();
  private readonly kernelOf = new Map<NodeId, number[]>();

  constructor(
    exported: Program,
    stages: Stages,
    readonly rung: Rung,
    private readonly graph: StageGraph,
  ) {
    this.program = new Program(new StageRecord(exported, stages, rung, graph).build());
    for (let op = 0; op < graph.ops.length; op++) {
      const id = this.idOf(op);
      for (const origin of this.originsOf([id])) {
        ensure(this.offspring, origin, () => [] as NodeId[]).push(id);
      }
    }
    graph.input_nodes.forEach((node, at) => {
      if (node >= 0) this.offspring.set(nodeId(0, node), [nodeId(0, at)]);
    });
    if (graph !== lastGraph(stages)) return;
    stages.kernels.forEach(({ ops }, number) => {
      this.byKernel.set(
        number,
        ops.map((op) => this.idOf(op)),
      );
      for (const op of ops) ensure(this.kernelOf, this.idOf(op), () => [] as number[]).push(number);
    });
  }

  /** The nodes of the exported program that some nodes of the stage come from. */
  originsOf(nodes: Iterable<NodeId>): NodeId[] {
    const { inputs, input_nodes, nodes: origins } = this.graph;
    const found = new Set<NodeId>();
    for (const id of nodes) {
      if (id < inputs.length) {
        const node = input_nodes[id] ?? -1;
        if (node >= 0) found.add(nodeId(0, node));
      } else if (id < inputs.length + this.graph.ops.length) {
        for (const node of Array.from(list(origins, id - inputs.length)))
          found.add(nodeId(0, node));
      }
    }
    return [...found];
  }

  /** The nodes of the stage that come from some nodes of the exported program. */
  offspringOf(nodes: Iterable<NodeId>): NodeId[] {
    const found = new Set<NodeId>();
    for (const node of nodes) for (const id of this.offspring.get(node) ?? []) found.add(id);
    return [...found];
  }

  /** The nodes that a kernel computes. */
  nodesOf(kernel: number): readonly NodeId[] {
    return this.byKernel.get(kernel) ?? [];
  }

  /** The kernel that computes most of some nodes, in the order of the calls; -1 for none. */
  kernelAt(nodes: Iterable<NodeId>): number {
    const counts = new Map<number, number>();
    for (const id of nodes) {
      for (const kernel of this.kernelOf.get(id) ?? [])
        counts.set(kernel, (counts.get(kernel) ?? 0) + 1);
    }
    return [...counts].sort((a, b) => b[1] - a[1] || a[0] - b[0])[0]?.[0] ?? -1;
  }

  private idOf(op: number): NodeId {
    return nodeId(0, this.graph.inputs.length + op);
  }
}

const known = new WeakMap<Stages, Map<Rung, StageProgram | null>>();

/** A rung of a compilation; null for the exported program, and for one that there is not. */
export function stageProgram(exported: Program, stages: Stages, rung: Rung): StageProgram | null {
  const rungs = ensure(known, stages, () => new Map<Rung, StageProgram | null>());
  const before = rungs.get(rung);
  if (before !== undefined) return before;
  const name = rung === "kernels" ? "post-grad" : rung;
  const graph = stages.graphs.find((each) => each.name === name);
  const made =
    graph && rung !== "exported" ? new StageProgram(exported, stages, rung, graph) : null;
  rungs.set(rung, made);
  return made;
}

/** Makes the Record. */
class StageRecord {
  private readonly tables = new StageTables();
  /** Per op, the kernel that it is drawn in; -1 for none. */
  private readonly kernels: Int32Array;
  /** Per kernel, how many ops are drawn in it. */
  private readonly counts = new Map<number, number>();

  constructor(
    private readonly exported: Program,
    private readonly stages: Stages,
    private readonly rung: Rung,
    private readonly stage: StageGraph,
  ) {
    this.kernels = new Int32Array(stage.ops.length).fill(-1);
    if (rung !== "kernels") return;
    stages.kernels.forEach(({ kind, ops }, number) => {
      for (const op of ops) {
        const before = stages.kernels[this.kernels[op] ?? -1];
        // a kernel may copy the inputs of a library call before it
        if (!before || (before.kind !== kind && kind === "extern")) this.kernels[op] = number;
      }
    });
    for (const kernel of this.kernels) this.counts.set(kernel, (this.counts.get(kernel) ?? 0) + 1);
  }

  build(): Record {
    const { record } = this.exported;
    const graph = this.graph();
    return {
      ...record,
      ...this.tables.lists(),
      title: `${record.title}, ${this.rung}`,
      graphs: [graph],
      signature: { ...record.signature, inputs: this.inputs(), outputs: [] },
      expressions: [],
      symbols: [],
      guards: [],
      timeline: [],
      level: null,
      failure: null,
      findings: [],
      verification: null,
      runs: [],
      profile: null,
      values: null,
      pairs: null,
      quantization: null,
      overlays: [],
      stages: [{ ...this.stages, graphs: [], kernels: this.timed(), removed: new Int32Array(0) }],
    };
  }

  /** The kernels, each with the nodes of the stage in place of the program's. */
  private timed(): Kernel[] {
    if (this.stage !== lastGraph(this.stages)) return [];
    const first = this.stage.inputs.length;
    return this.stages.kernels.map((kernel) => ({
      ...kernel,
      nodes: kernel.ops.map((op) => op + first),
    }));
  }

  private inputs(): Record["signature"]["inputs"] {
    const entries = this.exported.record.signature.inputs;
    return [...this.stage.input_nodes].flatMap((node, at) => {
      const entry = node < 0 ? undefined : entries.find((each) => each.node === node);
      return entry ? [{ ...entry, node: at }] : [];
    });
  }

  private graph(): Graph {
    const { stage, tables } = this;
    const [first, ops] = [stage.inputs.length, stage.ops.length];
    const scopes = this.scopes();
    const { group, groups } = this.groups(scopes);
    const whole = <T>(inputs: readonly T[], own: readonly T[], output: T): T[] => [
      ...inputs,
      ...own,
      output,
    ];
    const none = stage.inputs.map(() => -1);
    const own = (read: (op: number) => number): number[] =>
      Array.from({ length: ops }, (_, op) => read(op));
    const reads = stage.reads.starts.length > 1 ? stage.reads : emptyLists(ops);
    const read = (op: number): ArrayLike<number> => list(reads, op);
    const column = (values: number[]): Int32Array => Int32Array.from(values);
    return {
      title: this.rung,
      name: column(
        whole(
          stage.inputs.map((name) => tables.string(name)),
          own((op) => tables.string(this.nameOf(op))),
          tables.string("output"),
        ),
      ),
      op: column(
        whole(
          none.map(() => PLACEHOLDER),
          own(() => CALL),
          OUTPUT,
        ),
      ),
      target: column(
        whole(
          none,
          own((op) => tables.target(stage.targets[op] ?? "")),
          -1,
        ),
      ),
      type: column(
        whole(
          stage.input_types.map((type) => tables.type(type)),
          own((op) => tables.type(stage.types[op] ?? "")),
          -1,
        ),
      ),
      scope: column(whole(none, scopes, -1)),
      stack: column(
        whole(
          none,
          own((op) => this.stackOf(op)),
          -1,
        ),
      ),
      args: column(
        whole(
          none.map(() => tables.string("")),
          own((op) => tables.string(Array.from(read(op), (_, at) => `{${at}}`).join(", "))),
          tables.string(Array.from(stage.outputs, (_, at) => `{${at}}`).join(", ")),
        ),
      ),
      inputs: joinedLists(first, reads, stage.outputs),
      housekeeping: column(
        whole(
          none.map(() => 0),
          own((op) => this.isCheck(op)),
          0,
        ),
      ),
      nested: [],
      group: column(whole(none, group, -1)),
      groups,
    };
  }

  /** Checks compute nothing; of many kernels they would be most of the boxes. */
  private isCheck(op: number): number {
    return Number((this.stage.targets[op] ?? "").includes("._assert"));
  }

  /** An op; the only one of a kernel has the kernel's name, as its box is the kernel's. */
  private nameOf(op: number): string {
    const kernel = this.kernels[op] ?? -1;
    const name = this.stages.kernels[kernel]?.name;
    return name !== undefined && this.counts.get(kernel) === 1 ? name : (this.stage.ops[op] ?? "");
  }

  private stackOf(op: number): number {
    const [first] = Array.from(list(this.stage.nodes, op));
    return first === undefined ? -1 : (this.exported.record.graphs[0]?.stack[first] ?? -1);
  }

  /** Per op, the module that it is drawn in: the innermost that contains all of its sources. */
  private scopes(): number[] {
    const { stage } = this;
    const scope = this.exported.record.graphs[0]?.scope;
    const own: number[] = [];
    for (let op = 0; op < stage.ops.length; op++) {
      const origins = Array.from(list(stage.nodes, op), (node) => scope?.[node] ?? -1);
      // ops made by the compiler are with their first operand
      const operands = Array.from(list(stage.reads, op), (value) => value - stage.inputs.length);
      const [near] = operands.filter((value) => value >= 0 && value < op);
      own.push(origins.length ? this.common(origins) : near === undefined ? -1 : (own[near] ?? -1));
    }
    if (this.rung !== "kernels") return own;
    const together = new Map<number, number[]>();
    this.kernels.forEach((kernel, op) => {
      if (kernel >= 0) ensure(together, kernel, () => [] as number[]).push(own[op] ?? -1);
    });
    const ofKernel = new Map([...together].map(([kernel, all]) => [kernel, this.common(all)]));
    return own.map((each, op) => ofKernel.get(this.kernels[op] ?? -1) ?? each);
  }

  /** The innermost scope that is around all of some; -1 for none. */
  private common(scopes: readonly number[]): number {
    const { scopes: all } = this.exported.record;
    const pathOf = (scope: number): number[] => {
      const path: number[] = [];
      for (let at = scope; at >= 0; at = all[at]?.parent ?? -1) path.unshift(at);
      return path;
    };
    const paths = [...new Set(scopes)].map(pathOf);
    const [first = []] = paths;
    let depth = 0;
    while (depth < first.length && paths.every((path) => path[depth] === first[depth])) depth++;
    return first[depth - 1] ?? -1;
  }

  /** A box for each kernel. */
  private groups(scopes: readonly number[]): { group: number[]; groups: Group[] } {
    const numbers = new Map<number, number>();
    const groups: Group[] = [];
    const group = [...this.kernels].map((kernel, op) => {
      if (kernel < 0) return -1;
      return ensure(numbers, kernel, () => {
        const name = this.stages.kernels[kernel]?.name ?? "";
        const scope = scopes[op] ?? -1;
        return groups.push({ function: name, parent: -1, scope, plumbing: false, scopes: [] }) - 1;
      });
    });
    return { group, groups };
  }
}

const PLACEHOLDER = OPS.indexOf("placeholder");
const CALL = OPS.indexOf("call_function");
const OUTPUT = OPS.indexOf("output");

const emptyLists = (count: number): Ragged => ({
  starts: new Int32Array(count + 1),
  items: new Int32Array(0),
});

/** Inputs of nodes: none for inputs, the results for the output. */
function joinedLists(
  inputs: number,
  { starts, items }: Ragged,
  outputs: ArrayLike<number>,
): Ragged {
  return {
    starts: Int32Array.from([
      ...new Array<number>(inputs).fill(0),
      ...starts,
      items.length + outputs.length,
    ]),
    items: Int32Array.from([...items, ...Array.from(outputs)]),
  };
}
