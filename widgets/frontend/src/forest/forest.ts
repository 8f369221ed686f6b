/** How the tree of items is made, before neighbours are gathered. Pure: from a Program and options to Items. */

import { ensure } from "../maps";
import type { Program } from "../program";
import { graphOf, type NodeId, nodeId } from "../program";
import { foldedInto } from "../quantization";
import { Forest, type Held, type Item, type ItemKind } from "./items";

export interface Options {
  /** Show ops that only check or compute sizes. */
  housekeeping: boolean;
  /** Show parameters and buffers as boxes of their own. */
  parameters: boolean;
  /** Show only these nodes; all if it is missing. */
  only?: ReadonlySet<NodeId> | null;
}

/** The tree of items of a program. */
export function buildForest(program: Program, options: Options): Forest {
  const builder = new Builder(program, options);
  builder.run();
  return builder.forest;
}

class Builder {
  /**
   * The ids of nodes in graphs beyond the 64th are too large for a small integer of V8, which gives
   * all items another layout at the first such id, each when it is next read: too long for a click
   * where there are many. So the first item of all has such an id, and is kept as long as its
   * layout is needed.
   */
  static readonly first: Item = { ...item("op", "", "", "", null), node: nodeId(64, 0) };
  readonly forest: Forest;
  /** Scopes and functions by key. */
  private readonly containers = new Map<string, Item>();
  /** Per scope of the main graph, its item. */
  private readonly homes = new Map<number, Item>();
  /** Per function of the main graph, its item. */
  private readonly functions = new Map<number, Item>();
  /** Per graph, the function that calls each scope. */
  private readonly callers: Map<number, number>[];
  /** Per node that is folded into a quantized op, that op. */
  private readonly foldedInto: ReadonlyMap<NodeId, NodeId>;
  /** Ops that have no box, and where they would have had one: counted once all boxes are there. */
  private readonly left: [NodeId, Item][] = [];
  /** The inverse. */
  private readonly foldedBy = new Map<NodeId, NodeId[]>();

  constructor(
    private readonly program: Program,
    private readonly options: Options,
  ) {
    const root = item("scope", "root", program.record.title, "", null);
    root.scope = program.record.scopes.findIndex((scope) => scope.parent < 0);
    this.forest = new Forest(root);
    const whole = options.housekeeping || options.only;
    this.foldedInto = whole ? new Map() : foldedInto(program);
    for (const [node, op] of this.foldedInto) {
      ensure(this.foldedBy, op, (): NodeId[] => []).push(node);
    }
    this.callers = program.record.graphs.map(
      ({ groups }) =>
        new Map(groups.flatMap((group, at) => group.scopes.map((scope) => [scope, at]))),
    );
  }

  run(): void {
    const { root } = this.forest;
    if (this.program.record.graphs.length > 0) this.graph(0, root);
    for (const [id, into] of this.left) this.countLeft(id, into);
    foldSingles(root);
    count(root);
  }

  private graph(graph: number, into: Item): void {
    const nested = new Map<number, { graph: number; argument: string }[]>();
    for (const each of this.program.graph(graph).nested) {
      ensure(nested, each.node, (): { graph: number; argument: string }[] => []).push(each);
    }
    const size = this.program.graph(graph).name.length;
    for (let index = 0; index < size; index++) {
      const id = nodeId(graph, index);
      const branches = nested.get(index) ?? [];
      if (branches.length > 0 || (this.options.only?.has(id) ?? true))
        this.node(id, into, branches);
    }
  }

  private node(id: NodeId, into: Item, nested: { graph: number; argument: string }[]): void {
    switch (this.program.op(id)) {
      case "placeholder":
        this.placeholder(id, into);
        break;
      case "output":
        this.output(id, into);
        break;
      case "get_attr": // a tensor of the module; or a branch's graph, shown inside the op that runs it
        if (this.program.input(id)) this.placeholder(id, into);
        break;
      default:
        this.call(id, into, nested);
    }
  }

  private placeholder(id: NodeId, into: Item): void {
    const entry = this.program.input(id);
    const held = entry !== undefined && entry.kind !== "user_input";
    if (graphOf(id) === 0 && held) {
      if (!this.options.parameters) return; // folded into its users
      const user = this.program.usersOf(id)[0];
      const home = user === undefined ? into : this.home(user, into);
      const title = this.relative(entry.target, home.scope);
      const box = this.add(item("parameter", `n${id}`, title, "", home), id);
      box.subtitle = this.program.type(id)?.text ?? "";
      box.accent = entry.kind;
      return;
    }
    if (graphOf(id) !== 0 && this.isHeldInside(id)) return;
    // Tracing has used up a constant: it is in the signature, and nothing flows from it.
    if (typeof entry?.constant === "string" && this.program.usersOf(id).length === 0) return;
    const title = entry?.path || this.program.name(id);
    const box = this.add(item("input", `n${id}`, title, "", into), id);
    box.subtitle = entry?.constant ?? this.program.type(id)?.text ?? "";
    box.accent = "input";
  }

  /** A name in the module as it is within a scope: `weight` of `lin.weight` in `lin`. */
  private relative(target: string, scope: number): string {
    const path = this.program.record.scopes[scope]?.path;
    return path && target.startsWith(`${path}.`) ? target.slice(path.length + 1) : target;
  }

  private output(id: NodeId, into: Item): void {
    const box = this.add(item("output", `n${id}`, "output", "", into), id);
    const values = this.program.inputsOf(id).length;
    box.subtitle = values === 1 ? "" : `${values} values`;
    box.accent = "output";
  }

  private call(id: NodeId, into: Item, nested: { graph: number; argument: string }[]): void {
    if (!this.options.housekeeping && this.program.isHousekeeping(id)) {
      this.forest.hidden += 1;
      this.left.push([id, into]);
      return;
    }
    if (this.foldedInto.has(id)) {
      this.forest.hidden += 1;
      this.left.push([id, into]);
      return;
    }
    const target = this.program.target(id);
    if (target?.label === "getitem") {
      const box = this.forest.itemOf.get(this.program.inputsOf(id)[0] ?? -1);
      if (box?.kind === "op") {
        this.forest.itemOf.set(id, box); // picks one result of an op: part of its edge
        box.ops += 1;
        return;
      }
    }
    const box = this.add(item("op", `n${id}`, target?.label ?? "?", "", this.home(id, into)), id);
    box.subtitle = this.program.name(id);
    if (box.subtitle === box.title) box.subtitle = "";
    box.accent = target?.kind ?? "python";
    const folded = this.foldedBy.get(id);
    if (folded) box.folded = folded;
    for (const each of folded ?? []) this.forest.itemOf.set(each, box);
    if (nested.length === 0) box.held = this.heldBy(id, folded); // else shown at the ops inside
    for (const each of nested) {
      const branch = item("branch", `g${each.graph}`, each.argument, "", box);
      box.children.push(branch);
      this.graph(each.graph, branch);
    }
  }

  /** Counts an op without a box in the innermost module that has one: a count is of all ops. */
  private countLeft(id: NodeId, into: Item): void {
    let home = into;
    if (graphOf(id) === 0) {
      const { scopes } = this.program.record;
      for (let at = this.program.scope(id); at >= 0; at = scopes[at]?.parent ?? -1) {
        const known = this.homes.get(at);
        if (known) {
          home = known;
          break;
        }
      }
    }
    home.ops += 1;
  }

  private add(box: Item, id: NodeId): Item {
    box.node = id;
    this.forest.itemOf.set(id, box);
    box.parent?.children.push(box);
    return box;
  }

  /** The scope or function that a node's box goes into, made on first use. */
  private home(id: NodeId, into: Item): Item {
    const home = this.scopeOf(id, into);
    const group = this.program.group(id);
    return group < 0 ? home : this.functionOf(graphOf(id), group, home);
  }

  private scopeOf(id: NodeId, into: Item): Item {
    const graph = graphOf(id);
    const main = graph === 0; // where nothing depends on the caller
    const known = main ? this.homes.get(this.program.scope(id)) : undefined;
    if (known) return known;
    const base = main ? -1 : this.outerScope(id);
    const path: number[] = [];
    const { scopes } = this.program.record;
    for (let scope = this.program.scope(id); scope >= 0; scope = scopes[scope]?.parent ?? -1) {
      if (scope === base || scopes[scope]?.parent === -1) break;
      path.unshift(scope);
    }
    let home = into;
    for (const scope of path) {
      const caller = this.callers[graph]?.get(scope) ?? -1;
      const above = caller < 0 ? home : this.functionOf(graph, caller, home);
      home = this.container(above, `s${scope}`, () => {
        const entry = scopes[scope];
        const again = entry && entry.call > 0 ? ` (call ${entry.call + 1})` : "";
        const title = `${entry?.name ?? ""}${again}`;
        return { ...item("scope", "", title, shortClass(entry?.cls), above), scope };
      });
    }
    if (main) this.homes.set(this.program.scope(id), home);
    return home;
  }

  /** The item of a group of ops, inside those of the groups that it is in. */
  private functionOf(graph: number, number: number, home: Item): Item {
    const known = graph === 0 ? this.functions.get(number) : undefined;
    if (known) return known;
    const group = this.program.graph(graph).groups[number];
    if (!group) return home;
    const above = group.parent < 0 ? home : this.functionOf(graph, group.parent, home);
    // `<lambda>` and `<genexpr>` name nothing: such a box is called by its ops.
    const name = group.function.startsWith("<") ? "" : group.function;
    const made = this.container(above, `f${number}`, () => ({
      ...item("function", "", name, "", above),
      accent: group.plumbing ? "plumbing" : "function",
    }));
    if (graph === 0) this.functions.set(number, made);
    return made;
  }

  private container(above: Item, key: string, make: () => Item): Item {
    return ensure(this.containers, `${above.key}/${key}`, () => {
      const made = { ...make(), key: `${above.key}/${key}` };
      above.children.push(made);
      return made;
    });
  }

  private outerScope(id: NodeId): number {
    const parent = this.program.parentOf(graphOf(id));
    return parent ? this.program.scope(parent.node) : -1;
  }

  /** Whether a branch's input is a parameter of the program, passed in from outside. */
  private isHeldInside(id: NodeId): boolean {
    const origin = this.origin(id);
    const entry = origin === undefined ? undefined : this.program.input(origin);
    return !this.options.parameters && entry !== undefined && entry.kind !== "user_input";
  }

  /** The main graph's placeholder that a nested graph's input has the name of. */
  private origin(id: NodeId): NodeId | undefined {
    const name = this.program.name(id);
    const entry = this.program.record.signature.inputs.find((each) => each.name === name);
    return entry && entry.node >= 0 ? nodeId(0, entry.node) : undefined;
  }

  private isPlaceholder(id: NodeId): boolean {
    return this.program.op(id) === "placeholder";
  }

  private heldBy(id: NodeId, folded: readonly NodeId[] = []): Held[] {
    if (this.options.parameters) return [];
    const held: Held[] = [];
    const inputs = new Set<NodeId>();
    for (const each of folded.length > 0 ? [id, ...folded] : [id]) {
      for (const input of this.program.inputsOf(each)) {
        if (this.isPlaceholder(input) || this.program.input(input)) inputs.add(input);
      }
    }
    for (const input of inputs) {
      const placeholder = graphOf(input) === 0 ? input : this.origin(input);
      const entry = placeholder === undefined ? undefined : this.program.input(placeholder);
      if (placeholder === undefined || !entry || entry.kind === "user_input") continue;
      const shape = this.program.type(input)?.shape ?? [];
      const name = entry.target.split(".").at(-1) ?? entry.target;
      held.push({ node: input, name, size: shape.join("×") });
      if (!this.forest.itemOf.has(input)) this.forest.itemOf.set(input, this.placeholderBox(id));
    }
    return held;
  }

  private placeholderBox(user: NodeId): Item {
    return this.forest.itemOf.get(user) ?? this.forest.root;
  }
}

function item(
  kind: ItemKind,
  key: string,
  title: string,
  subtitle: string,
  parent: Item | null,
): Item {
  return {
    key,
    kind,
    title,
    subtitle,
    node: -1,
    scope: -1,
    held: [],
    accent: kind,
    parent,
    children: [],
    ops: 0,
    at: -1,
    end: -1,
  };
}

/**
 * A scope that holds one plain op is shown as that op, under the scope's name; a function that holds
 * one thing, as that.
 */
function foldSingles(box: Item): void {
  if (box.children.length === 0) return;
  box.children.forEach(foldSingles);
  box.children = box.children.map((child) => {
    const [only] = child.children;
    if (child.children.length !== 1 || !only) return child;
    const isPlain = only.kind === "op" && only.children.length === 0;
    if (child.kind !== "function" && !(child.kind === "scope" && isPlain)) return child;
    only.ops += child.ops;
    if (child.kind === "scope") {
      only.subtitle = child.title;
      only.scope = child.scope;
    }
    only.parent = box;
    return only;
  });
  if (box.kind === "function" && box.title === "") {
    const [first, last] = [box.children[0]?.title, box.children.at(-1)?.title];
    box.title = first === last ? (first ?? "") : `${first} … ${last}`;
  }
}

function count(box: Item): number {
  if (box.kind === "op") box.ops += 1;
  for (const child of box.children) box.ops += count(child);
  return box.ops;
}

function shortClass(cls: string | undefined): string {
  return cls?.split(".").at(-1) ?? "";
}
