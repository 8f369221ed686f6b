/**
 * The edges to draw: between the children of one container, from what the ops below them read. A
 * value that comes from outside a container enters it through a port, a small item of its own.
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

export interface Links {
  /** Per container, the edges among its children. */
  inside: Map<Item, Link[]>;
  /** Per container, a port for each value that enters it. */
  ports: Map<Item, Item[]>;
  /** Per box, what it reads that is fed to many boxes beside it: a mask, a rotary table. */
  taps: Map<Item, Item[]>;
  /** Boxes with a value that goes on to something outside their container. */
  exits: Set<Item>;
}

type Inside = Map<Item, Map<string, Link>>;
/** Per container and value from outside, the children that read it, and in which programs. */
type Entering = Map<Item, Map<NodeId, Map<Item, number>>>;

const MOST_PORTS = 5;

/** More consumers than this under one container, and a value is named at each instead of drawn. */
const MOST_DRAWN = 6;

/** All edges of a program, lifted to the container that holds both ends. */
export function findLinks(
  program: Program,
  forest: Forest,
  sidesOf: SidesOf = () => EVERYWHERE,
): Links {
  const inside: Inside = new Map();
  const entering: Entering = new Map();
  const exits = new Set<Item>();
  const lift = lifter(inside, entering, exits);
  for (const id of program.allNodes()) {
    const to = forest.itemOf.get(id);
    if (!to || program.op(id) === "placeholder") continue;
    for (const input of program.inputsOf(id)) {
      const from = forest.itemOf.get(input);
      if (!from || from === to || isHeld(program, to, input)) continue;
      lift(from, to, input, sidesOf(input, id));
    }
  }
  const ports = new Map<Item, Item[]>();
  for (const [container, sources] of entering) {
    ports.set(container, portsOf(program, container, sources, inside));
  }
  return { ...tapped(inside), ports, exits };
}

function isHeld(program: Program, to: Item, input: NodeId): boolean {
  if (program.op(input) !== "placeholder") return false;
  return to.held.some((held) => held.node === input);
}

/** What lifts an edge to the container that holds both ends, into these collections. */
function lifter(inside: Inside, entering: Entering, exits: Set<Item>) {
  return (from: Item, to: Item, value: NodeId, sides: number): void => {
    const above = new Map<Item, Item>();
    for (let item: Item | null = from; item?.parent; item = item.parent) {
      above.set(item.parent, item);
    }
    for (let item: Item = to; item.parent; item = item.parent) {
      const start = above.get(item.parent);
      if (start) {
        if (start !== item) addLink(inside, item.parent, { from: start, to: item, value, sides });
        for (let each = from; each !== start && each.parent; each = each.parent) exits.add(each);
        return;
      }
      const sources = ensure(entering, item.parent, () => new Map<NodeId, Map<Item, number>>());
      const readers = ensure(sources, value, () => new Map<Item, number>());
      readers.set(item, (readers.get(item) ?? 0) | sides);
    }
  };
}

interface Edge {
  from: Item;
  to: Item;
  value: NodeId;
  sides: number;
}

function addLink(inside: Inside, container: Item, { from, to, value, sides }: Edge): void {
  const links = ensure(inside, container, () => new Map<string, Link>());
  const link = ensure(links, `${from.key}>${to.key}`, () => ({ from, to, values: [], sides: 0 }));
  link.sides |= sides;
  if (!link.values.includes(value)) link.values.push(value);
}

/** A port for each value that enters a container, or one for all where there are many. */
function portsOf(
  program: Program,
  container: Item,
  sources: Map<NodeId, Map<Item, number>>,
  inside: Inside,
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
        addLink(inside, container, { from: port, to, value, sides });
      }
    }
    return port;
  });
}

/**
 * Sorts edges into drawn ones and names: a value that many boxes of a container read is named at
 * each that has another edge to hold it in place.
 */
function tapped(inside: Inside): Pick<Links, "inside" | "taps"> {
  const result: Pick<Links, "inside" | "taps"> = { inside: new Map(), taps: new Map() };
  for (const [container, byKey] of inside) {
    const links = [...byKey.values()];
    const fans = countBy(links, (link) => link.from);
    const isTap = (link: Link): boolean => (fans.get(link.from) ?? 0) > MOST_DRAWN;
    const held = new Set(links.filter((link) => !isTap(link)).map((link) => link.to));
    const drawn: Link[] = [];
    for (const link of links) {
      if (!isTap(link) || !held.has(link.to)) drawn.push(link);
      else ensure(result.taps, link.to, (): Item[] => []).push(link.from);
    }
    result.inside.set(container, drawn);
  }
  return result;
}

function countBy<T, K>(values: readonly T[], key: (value: T) => K): Map<K, number> {
  const counts = new Map<K, number>();
  for (const value of values) counts.set(key(value), (counts.get(key(value)) ?? 0) + 1);
  return counts;
}
