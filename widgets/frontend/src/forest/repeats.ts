/** Runs of identical scopes, such as the layers of a transformer, as one item with a count. */

import { ensure } from "../maps";
import type { Program } from "../program";
import type { Forest, Item } from "./items";

const FEWEST = 3;

/**
 * Puts every run of at least three scopes of the same structure under an item of its own.
 *
 * @param apart whether an item must stand for itself, whatever its structure
 */
export function stackRepeats(
  program: Program,
  forest: Forest,
  apart: (item: Item) => boolean,
): void {
  const shape = shaper(program, forest);
  const visit = (item: Item): void => {
    item.children.forEach(visit);
    item.children = grouped(item, shape, apart);
  };
  visit(forest.root);
  forest.rearranged();
}

/** A function that gives items the same text exactly where they have the same structure. */
function shaper(program: Program, forest: Forest): (item: Item) => string {
  const shapes = new Map<Item, string>();
  const numbers = new Map<string, number>();
  const shape = (item: Item): string =>
    ensure(shapes, item, () => {
      const text = `${structure(item, shape)}|${wiring(program, forest, item)}`;
      return String(ensure(numbers, text, () => numbers.size));
    });
  return shape;
}

/** What tells structures apart: kinds, ops, parameter sizes and order, but no names. */
function structure(item: Item, shape: (child: Item) => string): string {
  const held = item.held.map((each) => each.size).join(",");
  const isNamed = item.kind === "scope" || item.kind === "parameter"; // by its user, not its kind
  const title = isNamed ? item.subtitle : item.title;
  return `${item.kind}|${title}|${held}|${item.children.map(shape).join(" ")}`;
}

/** Which of the ops inside a scope read which, by position; `x` is a value from outside. */
function wiring(program: Program, forest: Forest, scope: Item): string {
  if (scope.kind !== "scope") return "";
  const positions = new Map<Item, number>();
  const visit = (item: Item): void => {
    if (item.node >= 0) positions.set(item, positions.size);
    item.children.forEach(visit);
  };
  visit(scope);
  const reads = (item: Item): string =>
    program
      .inputsOf(item.node)
      .filter((input) => !item.held.some((held) => held.node === input))
      .map((input) => positions.get(forest.itemOf.get(input) ?? scope) ?? "x")
      .join(",");
  return [...positions.keys()].map(reads).join(";");
}

function grouped(
  parent: Item,
  shape: (child: Item) => string,
  apart: (item: Item) => boolean,
): Item[] {
  const result: Item[] = [];
  let run: Item[] = [];
  const close = (): void => {
    const first = run[0];
    if (first && run.length >= FEWEST) result.push(repeat(parent, run, first));
    else result.push(...run);
    run = [];
  };
  for (const child of parent.children) {
    const last = run.at(-1);
    const eligible = child.kind === "scope" && child.children.length > 0 && !apart(child);
    if (last && (!eligible || shape(last) !== shape(child))) close();
    if (eligible) run.push(child);
    else result.push(child);
  }
  close();
  return result;
}

function repeat(parent: Item, run: Item[], first: Item): Item {
  const last = run.at(-1) ?? first;
  const item: Item = {
    ...first,
    key: `${first.key}×${run.length}`,
    kind: "repeat",
    title: `${first.title} … ${tail(last.title)}`,
    subtitle: `${first.subtitle} ×${run.length}`,
    scope: -1,
    held: [],
    parent,
    children: run,
    ops: run.reduce((sum, each) => sum + each.ops, 0),
  };
  for (const each of run) each.parent = item;
  return item;
}

/** The part of a scope's name that counts: the `31` of `layers.31`. */
const tail = (title: string): string => title.split(".").at(-1) ?? title;
