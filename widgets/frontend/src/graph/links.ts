/**
 * The edges to draw between the children of a container, derived from what the ops below them read.
 * A value from outside enters a container through a port, which is a small item of its own.
 */

import type { Forest, Item } from "../forest/items";
import { ensure } from "../maps";
import type { NodeId, Program } from "../program";

/** An edge between two children of one container. */
export interface Link {
  from: Item;
  to: Item;
  /** The nodes whose values flow along it. */
  values: NodeId[];
  /** Of two programs that are compared, those that have it, as bits. */
  sides: number;
}

/** Which of two programs have one node read another, as bits. */
export type SidesOf = (value: NodeId, user: NodeId) => number;

const EVERYWHERE = -1;

/** What is drawn inside one container. */
interface Inside {
  links: Link[];
  /** A port for each value that enters it. */
  ports: Item[];
  /** Per box, the values it reads that many of its siblings read too: a mask, a rotary table. */
  taps: Map<Item, Item[]>;
  /** Boxes with a value that is read outside the container. */
  exits: Set<Item>;
  before: Map<Item, Item[]>;
  after: Map<Item, Item[]>;
}

const MOST_PORTS = 5;

/** A value with more readers than this in one container is named at each instead of drawn. */
const MOST_DRAWN = 6;

const NONE: readonly Item[] = [];

/** The edges of a program, computed lazily per container. */
export class Links {
  private readonly known = new Map<Item, Inside>();
  /** Per container, the values that it reads from outside, each with the programs that have it. */
  private readonly entered = new Map<Item, ReadonlyMap<NodeId, number>>();
  private readonly left = new Map<Item, readonly Item[]>();

  constructor(
    private readonly program: Program,
    private readonly forest: Forest,
    private readonly sidesOf: SidesOf = () => EVERYWHERE,
  ) {}

  /** The edges among the children of a container, and from its ports. */
  inside(container: Item): readonly Link[] {
    return this.of(container).links;
  }

  ports(container: Item): readonly Item[] {
    return this.of(container).ports;
  }

  /** What a box reads that has no edge to it. */
  taps(item: Item): readonly Item[] {
    return (item.parent && this.of(item.parent).taps.get(item)) ?? NONE;
  }

  /** Whether a value of a box is read outside its container. */
  exits(item: Item): boolean {
    return item.parent !== null && this.of(item.parent).exits.has(item);
  }

  /** The items beside it that an item reads, by edges or by name. */
  before(item: Item): readonly Item[] {
    return (item.parent && this.of(item.parent).before.get(item)) ?? NONE;
  }

  /** The items beside it that read an item. */
  after(item: Item): readonly Item[] {
    return (item.parent && this.of(item.parent).after.get(item)) ?? NONE;
  }

  private of(container: Item): Inside {
    return ensure(this.known, container, () => this.find(container));
  }

  private find(container: Item): Inside {
    const found = new Map<string, Link>();
    const entering = new Map<NodeId, Map<Item, number>>();
    const exits = new Set<Item>();
    for (const child of container.children) {
      if (container.parent && this.leaving(child).some((each) => this.leaves(each, container)))
        exits.add(child);
      this.entering(child, (from, value, sides) => {
        const start = childOf(container, from);
        if (start) addLink(found, { from: start, to: child, value, sides });
        else {
          const readers = ensure(entering, value, () => new Map<Item, number>());
          readers.set(child, (readers.get(child) ?? 0) | sides);
        }
      });
    }
    const ports = portsOf(this.program, container, entering, found);
    return { ...tapped([...found.values()]), ports, exits };
  }

  /**
   * Calls back with each value that an item reads from outside of it, and the item that it is in.
   * What enters a container is gathered from what enters its children, once.
   */
  private entering(item: Item, take: (from: Item, value: NodeId, sides: number) => void): void {
    if (item.children.length === 0) {
      this.read(item, (from, value) => take(from, value, this.sidesOf(value, item.node)));
      return;
    }
    const values = ensure(this.entered, item, () => {
      const found = new Map<NodeId, number>();
      const add = (from: Item, value: NodeId, sides: number): void => {
        if (!isIn(item, from)) found.set(value, (found.get(value) ?? 0) | sides);
      };
      this.read(item, (from, value) => add(from, value, this.sidesOf(value, item.node)));
      for (const child of item.children) this.entering(child, add);
      return found;
    });
    for (const [value, sides] of values) {
      const from = this.forest.itemOf.get(value);
      if (from) take(from, value, sides);
    }
  }

  /** The items of the nodes in an item whose values are read outside of it. */
  private leaving(item: Item): readonly Item[] {
    if (item.children.length === 0) return item.node < 0 ? NONE : [item];
    return ensure(this.left, item, () => {
      const inner = item.children.flatMap((child) => this.leaving(child));
      const found = inner.filter((each) => this.leaves(each, item));
      return item.node < 0 ? found : [item, ...found];
    });
  }

  /** Calls back with each value that an item's nodes read, and the item that it is in. */
  private read(to: Item, take: (from: Item, value: NodeId) => void): void {
    const { forest, program } = this;
    if (to.node < 0) return;
    if (program.op(to.node) === "placeholder") return;
    for (const node of to.folded ? [to.node, ...to.folded] : [to.node]) {
      for (const input of program.inputsOf(node)) {
        const from = forest.itemOf.get(input);
        if (from && from !== to && !isHeld(program, to, input)) take(from, input);
      }
    }
  }

  /** Whether something outside of a container reads a value of an item's node. */
  private leaves(item: Item, container: Item, node: NodeId = item.node): boolean {
    return this.program.usersOf(node).some((user) => {
      const to = this.forest.itemOf.get(user);
      if (to === item) return this.leaves(item, container, user); // picks one result of it
      return to !== undefined && !childOf(container, to);
    });
  }
}

/** Whether an item is another, or inside of it. */
function isIn(container: Item, item: Item): boolean {
  for (let at: Item | null = item; at; at = at.parent) if (at === container) return true;
  return false;
}

/** The child of a container that an item is, or is inside of; null for what is outside. */
function childOf(container: Item, item: Item): Item | null {
  let at: Item | null = item;
  while (at && at.parent !== container) at = at.parent;
  return at;
}

function isHeld(program: Program, to: Item, input: NodeId): boolean {
  if (to.held.length === 0 || program.op(input) !== "placeholder") return false;
  return to.held.some((held) => held.node === input);
}

interface Edge {
  from: Item;
  to: Item;
  value: NodeId;
  sides: number;
}

function addLink(links: Map<string, Link>, { from, to, value, sides }: Edge): void {
  const link = ensure(links, `${from.key}>${to.key}`, () => ({ from, to, values: [], sides: 0 }));
  link.sides |= sides;
  if (!link.values.includes(value)) link.values.push(value);
}

/** A port for each value that enters a container, or one for all where there are many. */
function portsOf(
  program: Program,
  container: Item,
  sources: Map<NodeId, Map<Item, number>>,
  links: Map<string, Link>,
): Item[] {
  const groups: NodeId[][] =
    sources.size <= MOST_PORTS ? [...sources.keys()].map((each) => [each]) : [[...sources.keys()]];
  return groups.map((values): Item => {
    const first = values[0] ?? -1;
    const title = values.length === 1 ? program.name(first) : `${values.length} inputs`;
    const port: Item = {
      key: `${container.key}<${values.length === 1 ? first : "all"}`,
      kind: "port",
      title,
      subtitle: "",
      node: first,
      scope: -1,
      held: [],
      accent: "port",
      parent: container,
      children: [],
      ops: 0,
    };
    for (const value of values) {
      for (const [to, sides] of sources.get(value) ?? []) {
        addLink(links, { from: port, to, value, sides });
      }
    }
    return port;
  });
}

/**
 * Splits edges into drawn ones and named ones: a value with many readers in a container is named at
 * each reader that another edge keeps in place.
 */
function tapped(all: readonly Link[]): Pick<Inside, "links" | "taps" | "before" | "after"> {
  const fans = countBy(all, (link) => link.from);
  const isTap = (link: Link): boolean => (fans.get(link.from) ?? 0) > MOST_DRAWN;
  const held = new Set(all.filter((link) => !isTap(link)).map((link) => link.to));
  const taps = new Map<Item, Item[]>();
  const before = new Map<Item, Item[]>();
  const after = new Map<Item, Item[]>();
  const add = (map: Map<Item, Item[]>, key: Item, value: Item): void => {
    ensure(map, key, (): Item[] => []).push(value);
  };
  const isNamed = (link: Link): boolean => isTap(link) && held.has(link.to);
  const links = all.filter((link) => !isNamed(link));
  const named = all.filter(isNamed);
  for (const { from, to } of named) add(taps, to, from);
  for (const { from, to } of [...links, ...named]) {
    add(after, from, to);
    add(before, to, from);
  }
  return { links, taps, before, after };
}

function countBy<T, K>(values: readonly T[], key: (value: T) => K): Map<K, number> {
  const counts = new Map<K, number>();
  for (const value of values) counts.set(key(value), (counts.get(key(value)) ?? 0) + 1);
  return counts;
}
