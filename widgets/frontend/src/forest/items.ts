/**
 * The contents of the graph, as a tree: scopes hold ops and scopes, an op with branches holds graphs.
 * Independent of sizes, colours and the page.
 */

import type { NodeId } from "../program";

export type ItemKind =
  | "scope"
  /** The ops of one call of a function, or neighbours that compute sizes and masks. */
  | "function"
  | "repeat"
  /** Neighbours of a group that is too large to be drawn at once. */
  | "chunk"
  | "branch"
  | "op"
  | "input"
  | "output"
  | "parameter"
  /** Where a value from outside enters a container. */
  | "port";

/** A parameter, buffer or constant that an op reads, folded into its box. */
export interface Held {
  node: NodeId;
  /** Last part of its name in the module: `weight`. */
  name: string;
  /** Its sizes: `64×64`. */
  size: string;
}

export interface Item {
  /** Unique, and the same for the same program: what is open is remembered by it. */
  key: string;
  kind: ItemKind;
  /** First line: the op, or the scope's name. */
  title: string;
  /** Second line, muted: the class of a scope, the name of an op. */
  subtitle: string;
  /** The op's node; for a scope, -1. */
  node: NodeId;
  /** Index into the record's scopes; -1 if it is not a scope. */
  scope: number;
  held: Held[];
  /** For a quantized op, the nodes that only quantize, dequantize or scale for it. */
  folded?: NodeId[];
  /** How the op is drawn: `aten`, `custom`, `higher_order`, `python`, ... */
  accent: string;
  parent: Item | null;
  children: Item[];
  /** Number of ops below, itself included. */
  ops: number;
  /** Its place among all items, read from the top of the tree; those below it end before `end`. */
  at: number;
  end: number;
}

export class Forest {
  /** The box that stands for a node; folded nodes share the box of their op. */
  readonly itemOf = new Map<NodeId, Item>();
  /** How many nodes the options hide. */
  hidden = 0;
  private keyed: Map<string, Item> | null = null;
  private numbered: Numbered | null = null;

  constructor(readonly root: Item) {}

  /** All items, each at the place that it knows. */
  get items(): readonly Item[] {
    return this.inOrder.items;
  }

  private get inOrder(): Numbered {
    this.numbered ??= numbered(this.root);
    return this.numbered;
  }

  /** Items that can be opened, by key. Made on first use: the first paint does without. */
  get openable(): ReadonlyMap<string, Item> {
    this.keyed ??= new Map(
      this.items.filter(({ children }) => children.length > 0).map((item) => [item.key, item]),
    );
    return this.keyed;
  }

  /** The items of some scopes: one each, or one in every branch that calls it. */
  ofScopes(scopes: readonly number[]): Item[] {
    const wanted = new Set(scopes);
    return this.inOrder.scoped.filter(({ scope }) => wanted.has(scope));
  }

  /** Items were put under others. */
  rearranged(): void {
    this.keyed = null;
    this.numbered = null;
  }
}

interface Numbered {
  items: Item[];
  /** Items of scopes, which are few compared with the ops. */
  scoped: Item[];
}

function numbered(root: Item): Numbered {
  const items: Item[] = [];
  const scoped: Item[] = [];
  const visit = (item: Item): void => {
    item.at = items.length;
    items.push(item);
    if (item.scope >= 0) scoped.push(item);
    for (const child of item.children) visit(child);
    item.end = items.length;
  };
  visit(root);
  return { items, scoped };
}

/** Whether an item only gathers neighbours to be drawn as one; a list of items goes through it. */
const gathers = ({ kind }: Item): boolean => kind === "repeat" || kind === "chunk";

/** The children of an item in a list: what is gathered stands for itself. */
export function listed({ children }: Item): readonly Item[] {
  if (!children.some(gathers)) return children;
  return children.flatMap((child) => (gathers(child) ? listed(child) : [child]));
}

/** The items around an item. */
export function listedIn({ parent }: Item): Item | null {
  return parent && gathers(parent) ? listedIn(parent) : parent;
}

/** How many scopes of the same structure begin with this one. */
export function repeatsFrom(item: Item): number {
  const { parent } = item;
  if (!parent || !gathers(parent) || parent.children[0] !== item) return 1;
  return parent.kind === "repeat" ? listed(parent).length : repeatsFrom(parent);
}

/** The ops in an item, itself included. */
export function nodesBelow(box: Item): NodeId[] {
  const nodes: NodeId[] = [];
  const visit = ({ children, kind, node }: Item): void => {
    if (node >= 0 && kind === "op") nodes.push(node);
    for (const child of children) visit(child);
  };
  visit(box);
  return nodes;
}

/** Adds what has to be open for an item to be seen. */
export function openAbove(box: Item, open: Set<string>): void {
  for (let above = box.parent; above?.parent; above = above.parent) open.add(above.key);
}
