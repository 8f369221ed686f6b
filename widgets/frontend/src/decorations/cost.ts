/** The cost of ops at the sizes on the sliders, from their formulas. */

import type { CostAt, CostModel } from "../cost";
import type { Forest, Item } from "../forest/items";
import { bytesText, countText, shareText } from "../format";
import type { NodeId } from "../program";
import type { Decoration, Gathered, GatheredMarks, Mark, Measure } from "./decoration";
import { heat } from "./heat";

/** The names and titles of the colourings. */
export const COLOURINGS = { flops: "FLOPs", moved: "Bytes moved" } as const;

export function costs(model: CostModel, at: CostAt): Decoration[] {
  const share = (amount: number, whole: number): string => shareText(amount / (whole || 1));
  return [
    coloured(
      model,
      "flops",
      at.flops,
      (amount) => `${countText(amount)} FLOPs, ${share(amount, at.totalFlops)}`,
    ),
    coloured(
      model,
      "moved",
      at.moved,
      (amount) => `moves ${bytesText(amount)}, ${share(amount, at.totalMoved)}`,
    ),
  ];
}

function coloured(
  model: CostModel,
  name: keyof typeof COLOURINGS,
  amounts: Float64Array,
  text: Measure["text"],
): Decoration {
  let marks: Map<NodeId, Mark> | null = null;
  const decoration = heat(name, COLOURINGS[name], new Map(), text);
  // Made on demand: a slider makes a decoration with each step.
  Object.defineProperty(decoration, "marks", {
    get: () => {
      marks ??= new Map(model.nodes.map((node, at) => [node, { amount: Number(amounts[at]) }]));
      return marks;
    },
  });
  decoration.gather = (forest) => gathered(model, forest, amounts);
  return decoration;
}

/** The ops of a forest by their places, each with the boxes around it: made once. */
interface Nested {
  numbers: Map<Item, number>;
  /** Per op and box around it: the op's place, the box's number. */
  places: Int32Array;
  boxes: Int32Array;
  own: Set<number>;
}
const known = new WeakMap<Forest, { model: CostModel; nested: Nested }>();

/** A slider asks for it at each step, so it adds numbers alone, and makes marks on demand. */
function gathered(model: CostModel, forest: Forest, amounts: Float64Array): GatheredMarks {
  let found = known.get(forest);
  if (found?.model !== model) {
    found = { model, nested: nestedIn(model, forest) };
    known.set(forest, found);
  }
  const { nested } = found;
  let sums: Float64Array | null = null;
  const markOf = (number: number): Gathered => {
    sums ??= sumsOf(nested, amounts);
    return { amount: Number(sums[number]), own: nested.own.has(number) };
  };
  return {
    get(item) {
      const number = nested.numbers.get(item);
      return number === undefined ? undefined : markOf(number);
    },
    *[Symbol.iterator]() {
      for (const [item, number] of nested.numbers) yield [item, markOf(number)] as const;
    },
  };
}

function sumsOf({ numbers, places, boxes }: Nested, amounts: Float64Array): Float64Array {
  const sums = new Float64Array(numbers.size);
  for (let at = 0; at < places.length; at++) {
    const box = Number(boxes[at]);
    sums[box] = Number(sums[box]) + Number(amounts[Number(places[at])]);
  }
  return sums;
}

function nestedIn(model: CostModel, forest: Forest): Nested {
  const numbers = new Map<Item, number>();
  const [places, boxes, own]: [number[], number[], Set<number>] = [[], [], new Set()];
  model.nodes.forEach((node, place) => {
    const item = forest.itemOf.get(node);
    for (let at: Item | null = item ?? null; at?.parent; at = at.parent) {
      const number = numbers.get(at) ?? numbers.size;
      numbers.set(at, number);
      if (at === item) own.add(number);
      places.push(place);
      boxes.push(number);
    }
  });
  return { numbers, places: Int32Array.from(places), boxes: Int32Array.from(boxes), own };
}
