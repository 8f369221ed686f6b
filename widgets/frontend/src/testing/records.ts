/**
 * Builds small Records for tests, a node at a time, as the engine would write them. Only what a test
 * names is there; everything else is empty.
 */

import type {
  Failure,
  FixCard,
  Graph,
  Group,
  Guard,
  InputEntry,
  OutputEntry,
  Ragged,
  Record,
  Rule,
  Scope,
  Symbol as ShapeSymbol,
  SizeInput,
  SourceFile,
  Target,
  ValueType,
} from "../record.gen";
import { OPS, SCHEMA_VERSION } from "../record.gen";

type Size = number | string;

interface NodeOptions {
  /** Index of the scope it is in; none by default. */
  scope?: number;
  /** Sizes of its `f32` value; those of its first input by default. */
  shape?: readonly Size[];
  housekeeping?: boolean;
  /** A group that `group` made. */
  group?: number;
  /** Where its call came from, the outermost call first. */
  stack?: readonly Place[];
  /** Of an operator: `aten` by default. */
  kind?: Target["kind"];
}

/** A line of a file of the builder. */
export type Place = readonly [file: number, line: number, within: string];

interface Node {
  name: string;
  op: (typeof OPS)[number];
  target: number;
  type: number;
  scope: number;
  inputs: number[];
  housekeeping: boolean;
  group: number;
  stack: number;
}

/** One graph of a Record under construction. */
export class GraphBuilder {
  readonly nodes: Node[] = [];
  readonly nested: Graph["nested"] = [];
  readonly groups: Group[] = [];

  constructor(
    private readonly owner: RecordBuilder,
    readonly title: string,
  ) {}

  /** An operator's call; returns the node. Names count up as torch's do: `add`, `add_1`. */
  call(label: string, inputs: readonly number[], options: NodeOptions = {}): number {
    const target = this.owner.target(label, options.kind ?? "aten");
    return this.node("call_function", this.owner.freshName(label), inputs, { ...options, target });
  }

  /** A function's call, or with an empty name neighbours that belong together. */
  group(name: string, options: Partial<Group> = {}): number {
    const group = { function: name, parent: -1, scope: -1, plumbing: false, scopes: [] };
    return this.groups.push({ ...group, ...options }) - 1;
  }

  placeholder(name: string, shape: readonly Size[]): number {
    return this.node("placeholder", name, [], { shape });
  }

  attribute(name: string, shape: readonly Size[], stack: readonly Place[]): number {
    return this.node("get_attr", name, [], { shape, stack });
  }

  output(values: readonly number[]): number {
    return this.node("output", "output", values, {});
  }

  /** A graph that a node runs: a branch of cond. */
  branch(node: number, argument: string, fill: (graph: GraphBuilder) => void): void {
    const graph = new GraphBuilder(this.owner, `${argument}_graph`);
    this.owner.graphs.push(graph);
    this.nested.push({ node, graph: this.owner.graphs.length - 1, argument, holder: node });
    fill(graph);
  }

  private node(
    op: (typeof OPS)[number],
    name: string,
    inputs: readonly number[],
    options: NodeOptions & { target?: number },
  ): number {
    const { scope = -1, shape, target = -1, housekeeping = false } = options;
    const stack = this.owner.stack(options.stack ?? []);
    const first = this.nodes[inputs[0] ?? -1];
    const type = shape ? this.owner.tensor(shape) : (first?.type ?? this.owner.tensor([]));
    const { group = -1 } = options;
    const read = [...inputs];
    this.nodes.push({ name, op, target, type, scope, inputs: read, housekeeping, stack, group });
    return this.nodes.length - 1;
  }

  build(strings: (text: string) => number): Graph {
    const column = (read: (node: Node) => number): Int32Array => Int32Array.from(this.nodes, read);
    return {
      title: this.title,
      name: column((node) => strings(node.name)),
      op: column((node) => OPS.indexOf(node.op)),
      target: column((node) => node.target),
      type: column((node) => node.type),
      scope: column((node) => node.scope),
      stack: column((node) => node.stack),
      args: column((node) => strings(node.inputs.map((_, at) => `{${at}}`).join(", "))),
      inputs: ragged(this.nodes.map((node) => node.inputs)),
      housekeeping: column((node) => Number(node.housekeeping)),
      group: column((node) => node.group),
      groups: this.groups,
      nested: this.nested,
    };
  }
}

/** A Record under construction. Its calls go into the main graph. */
export class RecordBuilder {
  private readonly main = new GraphBuilder(this, "main");
  readonly graphs: GraphBuilder[] = [this.main];
  private readonly targets: Target[] = [];
  private readonly types: ValueType[] = [];
  private readonly scopes: Scope[] = [];
  private readonly symbols: ShapeSymbol[] = [];
  private readonly expressions = new Map<string, number[]>();
  private readonly inputs: InputEntry[] = [];
  private readonly outputs: OutputEntry[] = [];
  private readonly counts = new Map<string, number>();
  private readonly files: SourceFile[] = [];
  private readonly frames: Place[] = [];
  private readonly stacks: number[][] = [];
  private readonly guards: Guard[] = [];

  constructor(private readonly title = "model(x)") {
    this.scope("", "Model", -1);
  }

  /** A module's call under another's; the root, which is there from the start, is 0. */
  scope(name: string, cls: string, parent = 0): number {
    const above = this.scopes[parent]?.path ?? "";
    const path = [above, name].filter(Boolean).join(".");
    const call = this.scopes.filter((each) => each.path === path && each.parent === parent).length;
    this.scopes.push({ path, name: name || this.title, cls: `models.${cls}`, parent, call });
    return this.scopes.length - 1;
  }

  input(name: string, shape: readonly Size[]): number {
    const node = this.main.placeholder(name, shape);
    this.inputs.push(this.entry("user_input", name, node, "", name));
    return node;
  }

  parameter(target: string, shape: readonly Size[]): number {
    const name = `p_${target.replaceAll(".", "_")}`;
    const node = this.main.placeholder(name, shape);
    this.inputs.push(this.entry("parameter", name, node, target, ""));
    return node;
  }

  /** A parameter that the graph of a failed export reads as an attribute. */
  attribute(target: string, shape: readonly Size[], stack: readonly Place[] = []): number {
    const name = target.replaceAll(".", "_");
    const node = this.main.attribute(name, shape, stack);
    this.inputs.push(this.entry("parameter", name, node, target, ""));
    return node;
  }

  group(name: string, options: Partial<Group> = {}): number {
    return this.main.group(name, options);
  }

  call(label: string, inputs: readonly number[], options: NodeOptions = {}): number {
    return this.main.call(label, inputs, options);
  }

  branch(node: number, argument: string, fill: (graph: GraphBuilder) => void): void {
    this.main.branch(node, argument, fill);
  }

  output(values: readonly number[]): number {
    for (const node of values) {
      const { name = "", type = -1 } = this.main.nodes[node] ?? {};
      const at = String(this.outputs.length);
      const entry = { name, node, type, target: "", path: at, constant: null };
      this.outputs.push({ kind: "user_output", ...entry });
    }
    return this.main.output(values);
  }

  /** Index of the type of an `f32` tensor of these sizes; the names in them become symbols. */
  tensor(shape: readonly Size[]): number {
    const text = `f32[${shape.join(", ")}]`;
    const known = this.types.findIndex((type) => type.text === text);
    if (known >= 0) return known;
    for (const size of shape) if (typeof size === "string") this.express(size);
    this.types.push({
      kind: "tensor",
      text,
      dtype: "float32",
      shape: [...shape],
      stride: [],
      device: "cpu",
      layout: "strided",
      requires_grad: false,
      value: null,
      items: [],
    });
    return this.types.length - 1;
  }

  target(label: string, kind: Target["kind"]): number {
    const known = this.targets.findIndex((each) => each.label === label && each.kind === kind);
    if (known >= 0) return known;
    const plain = { schema: "", overload: "default", mutates: [], aliases: [], tags: [] };
    this.targets.push({ name: `${kind}.${label}.default`, label, kind, core: true, ...plain });
    return this.targets.length - 1;
  }

  file(name: string, origin: SourceFile["origin"] = "user"): number {
    return this.files.push({ path: `/home/user/${name}`, name, origin, text: "" }) - 1;
  }

  /** Index of a stack; -1 for none. */
  stack(places: readonly Place[]): number {
    if (places.length === 0) return -1;
    const frames = places.map((place) => this.frames.push(place) - 1);
    return this.stacks.push(frames) - 1;
  }

  /** A condition on symbols that are there already. */
  guard(text: string, symbols: readonly string[], stack: readonly Place[] = []): void {
    this.guards.push({
      text,
      torch_text: text,
      symbols: symbols.map((name) => this.symbol(name)),
      kind: "guard",
      stack: this.stack(stack),
      count: 1,
      effect: "kept",
      result: "",
      asked_by: "",
      inputs: [],
    });
  }

  freshName(label: string): string {
    const count = this.counts.get(label) ?? 0;
    this.counts.set(label, count + 1);
    return count === 0 ? label : `${label}_${count}`;
  }

  record(): Record {
    const strings: string[] = [];
    const intern = (text: string): number => {
      const known = strings.indexOf(text);
      return known >= 0 ? known : strings.push(text) - 1;
    };
    const frameColumn = (read: (place: Place) => number): Int32Array =>
      Int32Array.from(this.frames, read);
    const graphs = this.graphs.map((graph) => graph.build(intern));
    const frames = {
      file: frameColumn(([file]) => file),
      line: frameColumn(([, line]) => line),
      function: frameColumn(([, , within]) => intern(within)),
    };
    return {
      schema: SCHEMA_VERSION,
      title: this.title,
      outcome: "exported",
      mode: "non-strict",
      verdict: "exported",
      shapes: "",
      other_form: "",
      torch_version: "2.13.0",
      sources_inside: false,
      timing: null,
      warnings: [],
      left_out: [],
      timeline: [],
      probe: { inputs: [], rules: [], outputs: [] },
      level: null,
      origins: null,
      findings: [],
      not_looked_for: [],
      verification: null,
      printed: "",
      graphs,
      strings,
      targets: this.targets,
      types: this.types,
      expressions: [...this.expressions].map(([text, symbols]) => ({ text, symbols })),
      scopes: this.scopes,
      files: this.files,
      frames,
      stacks: ragged(this.stacks),
      signature: { inputs: this.inputs, outputs: this.outputs, takes: "", returns: "" },
      symbols: this.symbols,
      guards: this.guards,
      failure: null,
      fixed_by: [],
      given_up: [],
      fixed_code: [],
      check: null,
      runs: [],
      profile: null,
      values: null,
      pairs: null,
      quantization: null,
      overlays: [],
      stages: [],
      delegations: [],
      op_table: null,
    };
  }

  private express(size: string): void {
    if (this.expressions.has(size)) return;
    const names = size.match(/[a-z_]\w*/gi) ?? [];
    this.expressions.set(
      size,
      names.map((name) => this.symbol(name)),
    );
  }

  private symbol(name: string): number {
    const known = this.symbols.findIndex((each) => each.name === name);
    if (known >= 0) return known;
    const range = { lower: 2, upper: null, example: 4, places: [], bounds: [], stack: -1 };
    this.symbols.push({ name, torch_name: `s${this.symbols.length}`, kind: "backed", ...range });
    return this.symbols.length - 1;
  }

  private entry(
    kind: InputEntry["kind"],
    name: string,
    node: number,
    target: string,
    path: string,
  ): InputEntry {
    const type = this.main.nodes[node]?.type ?? -1;
    const rest = { keyword: false, persistent: null, constant: null, bytes: 0 };
    return { kind, name, node, type, target, path, ...rest };
  }
}

function ragged(lists: readonly (readonly number[])[]): Ragged {
  const starts = [0];
  for (const list of lists) starts.push((starts.at(-1) ?? 0) + list.length);
  return { starts: Int32Array.from(starts), items: Int32Array.from(lists.flat()) };
}

/** A fix as the engine offers it. */
export function fixCard(fields: Partial<FixCard>): FixCard {
  return {
    kind: "shapes",
    title: "Bound b ≤ 16",
    why: "",
    lossy: false,
    narrows: false,
    gives_up: "",
    before: "x: b",
    after: "x: b[..16]",
    diffs: [],
    stack: -1,
    tried: false,
    forms: [],
    ...fields,
  };
}

/** Why an export failed, as far as a test says. */
export function failureOf(fields: Partial<Failure>): Failure {
  return {
    error: "UserError",
    kind: "The requested dynamic shapes do not hold",
    code: "EX102",
    known: true,
    sentence: "b must be at most 16.",
    why: "",
    message: "",
    traceback: "",
    stack: -1,
    span: [],
    related: [],
    links: [],
    fixes: [],
    ...fields,
  };
}

/** A dim of an input that a caller decides; of a fixed size unless said otherwise. */
export function sizeInput(
  text: string,
  example: number,
  fields: Partial<SizeInput> = {},
): SizeInput {
  const fixed = { size: example, symbol: -1, scale: 1, offset: 0 };
  return { entry: 0, dim: 0, text, example, ...fixed, ...fields };
}

/** A rule of a Record's probe, enforced unless said otherwise. */
export function ruleOf(text: string, formula: Rule["formula"], fields: Partial<Rule> = {}): Rule {
  return { kind: "guard", text, formula, guard: -1, stack: -1, enforced: true, ...fields };
}

/** A guard on the first symbol, which came to nothing. */
export function guardOf(text: string, fields: Partial<Guard> = {}): Guard {
  return {
    text,
    torch_text: text,
    symbols: [0],
    kind: "guard",
    stack: -1,
    count: 1,
    effect: "kept",
    result: "",
    asked_by: "",
    inputs: [0],
    ...fields,
  };
}
