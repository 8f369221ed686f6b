/**
 * The edges to draw between the children of a container, derived from what the ops below them read.
 * A value from outside enters a container through a port, which is a small item of its own.
 */

import type { Forest, Item } from "../forest/items";
import { type Reads, readsOf } from "../forest/reads";
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
/** More than there are items: two places make one number. */
const STRIDE = 2 ** 26;

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
  private reads: Reads | null = null;

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

  /** Values that a box reads without an edge. */
  taps(item: Item): readonly Item[] {
    return (item.parent && this.of(item.parent).taps.get(item)) ?? NONE;
  }

  /** Whether a value of a box is read outside its container. */
  exits(item: Item): boolean {
    return item.parent !== null && this.of(item.parent).exits.has(item);
  }

  /** The sibling items that an item reads, by edges or by name. */
  before(item: Item): readonly Item[] {
    return (item.parent && this.of(item.parent).before.get(item)) ?? NONE;
  }

  /** The sibling items that read an item. */
  after(item: Item): readonly Item[] {
    return (item.parent && this.of(item.parent).after.get(item)) ?? NONE;
  }

  private of(container: Item): Inside {
    return ensure(this.known, container, () => this.find(container));
  }

  private find(container: Item): Inside {
    this.reads ??= readsOf(this.program, this.forest); // before a place is looked up
    const { reads } = this;
    const found = new Map<number, Link>();
    const entering = new Map<NodeId, Map<Item, number>>();
    const exits = new Set<Item>();
    for (const child of container.children) {
      if (container.parent && leaves(reads, child, container)) exits.add(child);
      this.entering(reads, child, (place, value, sides) => {
        const start = childAt(container, place);
        if (start)
          addLink(found, start.at * STRIDE + child.at, { from: start, to: child, value, sides });
        else {
          const readers = ensure(entering, value, () => new Map<Item, number>());
          readers.set(child, (readers.get(child) ?? 0) | sides);
        }
      });
    }
    const { links, ports } = portsOf(this.program, container, entering);
    return { ...tapped([...found.values(), ...links]), ports, exits };
  }

  /** Calls back with each value that an item reads from outside of it, and the place of its item. */
  private entering(
    { from, items, starts, values }: Reads,
    { at, end }: Item,
    take: (place: number, value: NodeId, sides: number) => void,
  ): void {
    for (let reader = at; reader < end; reader++) {
      const last = starts[reader + 1] as number;
      for (let read = starts[reader] as number; read < last; read++) {
        const place = from[read] as number;
        if (place >= at && place < end) continue;
        const value = values[read] as number;
        take(place, value, this.sidesOf(value, (items[reader] as Item).node));
      }
    }
  }
}

/** Whether something outside of a container reads a value of what is in an item. */
function leaves({ firstReader, lastReader }: Reads, { at, end }: Item, container: Item): boolean {
  for (let place = at; place < end; place++) {
    const last = lastReader[place] as number;
    if (last >= container.end) return true;
    if (last >= 0 && (firstReader[place] as number) <= container.at) return true;
  }
  return false;
}

/** The child of a container at a place, or around it; null if it is outside. */
function childAt({ at, children, end }: Item, place: number): Item | null {
  if (place <= at || place >= end) return null;
  let [low, high] = [0, children.length - 1];
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if ((children[middle] as Item).at <= place) low = middle;
    else high = middle - 1;
  }
  return children[low] ?? null;
}

interface Edge {
  from: Item;
  to: Item;
  value: NodeId;
  sides: number;
}

function addLink<K>(links: Map<K, Link>, key: K, { from, to, value, sides }: Edge): void {
  const link = ensure(links, key, (): Link => ({ from, to, values: [], sides: 0 }));
  link.sides |= sides;
  if (!link.values.includes(value)) link.values.push(value);
}

/** A port for each value that enters a container, or one for all where there are many. */
function portsOf(
  program: Program,
  container: Item,
  sources: Map<NodeId, Map<Item, number>>,
): { ports: Item[]; links: Link[] } {
  const links: Link[] = [];
  const groups: NodeId[][] =
    sources.size <= MOST_PORTS ? [...sources.keys()].map((each) => [each]) : [[...sources.keys()]];
  const ports = groups.map((values): Item => {
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
      at: -1,
      end: -1,
    };
    const own = new Map<Item, Link>();
    for (const value of values) {
      for (const [to, sides] of sources.get(value) ?? []) {
        addLink(own, to, { from: port, to, value, sides });
      }
    }
    links.push(...own.values());
    return port;
  });
  return { ports, links };
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
