/** The cost of a program at some sizes, from the table of its formulas. Pure. */

import { evaluate } from "./formula";
import { ensure } from "./maps";
import type { AmountTable, CostTable } from "./messages.gen";
import { type GroupBy, type Total, totalsBy } from "./profile";
import { type NodeId, nodeId, type Program } from "./program";

/** A device's two limits. */
export interface Device {
  /** FLOPs a second. */
  flops: number;
  /** Bytes a second. */
  bandwidth: number;
}

/** A cost at some sizes. Fields per op are in the order of `CostTable.nodes`. */
export interface CostAt {
  /** Per op. */
  flops: Float64Array;
  /** Per op: bytes read and written. */
  moved: Float64Array;
  /** Per node of the main graph: bytes alive there, besides inputs and weights. */
  alive: Float64Array;
  /** Per tensor that an op makes: its bytes. */
  held: Float64Array;
  totalFlops: number;
  totalMoved: number;
  inputs: number;
  /** The node with the most bytes alive; -1 where no op makes any. */
  peak: number;
  peakBytes: number;
  /** Weights, inputs and the peak. */
  total: number;
}

/** From `at` on, one kind of op does more FLOPs than the one that did most before. */
export interface Overtaking {
  at: number;
  more: string;
  less: string;
}

/** Ops that are ranked together, also by their places in `CostTable.nodes`. */
interface Grouped {
  name: string;
  nodes: NodeId[];
  places: Int32Array;
}

/** The formulas of a program, and the ops by what they belong to. */
export class CostModel {
  private readonly groups = new Map<GroupBy, readonly Grouped[]>();
  private readonly sums: { [name in Amounts]: Sums };
  private readonly makers: Int32Array;
  private readonly lasts: Int32Array;
  readonly nodes: readonly NodeId[];

  constructor(
    readonly program: Program,
    readonly table: CostTable,
  ) {
    this.nodes = table.nodes.map((node) => nodeId(0, node));
    this.makers = Int32Array.from(table.makers);
    this.lasts = Int32Array.from(table.lasts);
    const { flops, read, written, held, scratch, inputs } = table;
    this.sums = {
      flops: new Sums([flops]),
      moved: new Sums([read, written]),
      held: new Sums([held]),
      scratch: new Sums([scratch]),
      inputs: new Sums([inputs]),
    };
  }

  /** The cost at a value for each symbol of the Record. Throws NoValue where a formula has none. */
  at(sizes: readonly number[]): CostAt {
    const { table } = this;
    const products = this.productsAt(sizes);
    const { sums } = this;
    const flops = sums.flops.at(products);
    const moved = sums.moved.at(products);
    const held = sums.held.at(products);
    const alive = this.aliveAt(held, sums.scratch.at(products));
    const inputs = sums.inputs.at(products)[0] ?? 0;
    let peak = -1;
    for (let at = 0; at < alive.length; at++) {
      if (Number(alive[at]) > (peak < 0 ? 0 : Number(alive[peak]))) peak = at;
    }
    const peakBytes = peak < 0 ? 0 : Number(alive[peak]);
    const [totalFlops, totalMoved] = [total(flops), total(moved)];
    const all = table.weights + inputs + peakBytes;
    return {
      flops,
      moved,
      alive,
      held,
      totalFlops,
      totalMoved,
      inputs,
      peak,
      peakBytes,
      total: all,
    };
  }

  /** The tensors that are alive at a node, the largest first: the op that made each, and its bytes. */
  aliveAtNode({ held }: CostAt, node: number): { node: NodeId; bytes: number }[] {
    const { makers, lasts } = this.table;
    const alive = new Map<NodeId, number>();
    makers.forEach((maker, at) => {
      if (maker > node || node > Number(lasts[at]) || !Number(held[at])) return;
      const made = nodeId(0, maker);
      alive.set(made, (alive.get(made) ?? 0) + Number(held[at]));
    });
    return [...alive]
      .map(([made, bytes]) => ({ node: made, bytes }))
      .sort((one, other) => other.bytes - one.bytes);
  }

  /** The largest amounts first; those without any are left out. */
  ranking(amounts: Float64Array, by: GroupBy): Total[] {
    const totals: Total[] = [];
    for (const { name, nodes, places } of this.grouped(by)) {
      let cost = 0;
      for (const place of places) cost += Number(amounts[place]);
      if (cost > 0) totals.push({ name, nodes, cost });
    }
    return totals.sort((one, other) => other.cost - one.cost);
  }

  /** The largest value of a symbol at which all of it fits into so many bytes; null if none. */
  largestFitting(sizes: readonly number[], symbol: number, limit: number): number | null {
    const { lower, upper } = this.program.record.symbols[symbol] ?? { lower: 1, upper: null };
    const fits = (value: number): boolean =>
      this.at(sizes.map((size, at) => (at === symbol ? value : size))).total <= limit;
    const end = Math.min(upper ?? FARTHEST, FARTHEST);
    let low = Math.max(lower ?? 1, 1);
    if (!fits(low)) return null;
    let high = low;
    while (high < end && fits(high)) {
      low = high;
      high = Math.min(high * 2, end);
    }
    if (fits(high)) return high;
    while (high - low > 1) {
      const middle = Math.floor((low + high) / 2);
      if (fits(middle)) low = middle;
      else high = middle;
    }
    return low;
  }

  /**
   * The next value of a symbol, above the one that is tried, from which on another kind of op does
   * most of the FLOPs; null where none does.
   */
  nextOvertaking(sizes: readonly number[], symbol: number): Overtaking | null {
    const kinds = this.grouped("op");
    const leader = (value: number): number => {
      const products = this.productsAt(sizes.map((size, at) => (at === symbol ? value : size)));
      const flops = this.sums.flops.at(products);
      const totals = kinds.map(({ places }) =>
        places.reduce((sum, place) => sum + Number(flops[place]), 0),
      );
      return totals.reduce((best, sum, at) => (sum > Number(totals[best]) ? at : best), 0);
    };
    const end = Math.min(this.program.record.symbols[symbol]?.upper ?? FARTHEST, FARTHEST);
    let low = Math.max(sizes[symbol] ?? 1, 1);
    const before = leader(low);
    let high = low;
    while (high < end && leader(high) === before) {
      low = high;
      high = Math.min(high * 2, end);
    }
    if (leader(high) === before) return null;
    while (high - low > 1) {
      const middle = Math.floor((low + high) / 2);
      if (leader(middle) === before) low = middle;
      else high = middle;
    }
    return { at: high, more: kinds[leader(high)]?.name ?? "", less: kinds[before]?.name ?? "" };
  }

  private grouped(by: GroupBy): readonly Grouped[] {
    const known = this.groups.get(by);
    if (known) return known;
    const ones = new Array<number>(this.program.record.graphs[0]?.name.length ?? 0).fill(-1);
    for (const node of this.table.nodes) ones[node] = 1;
    const placeOf = new Map(this.nodes.map((node, place) => [node, place]));
    const groups = totalsBy(this.program, ones, by).map(({ name, nodes }) => ({
      name,
      nodes,
      places: Int32Array.from(nodes, (node) => placeOf.get(node) ?? -1),
    }));
    this.groups.set(by, groups);
    return groups;
  }

  private productsAt(sizes: readonly number[]): Float64Array {
    const factors = this.table.factors.map((formula) => Number(evaluate(formula, sizes)));
    return Float64Array.from(this.table.products, (product) => {
      let value = 1;
      for (let at = 0; at < product.length; at += 2) {
        value *= Number(factors[Number(product[at])]) ** Number(product[at + 1]);
      }
      return value;
    });
  }

  private aliveAt(held: Float64Array, scratch: Float64Array): Float64Array {
    const { makers, lasts } = this;
    const { nodes } = this.table;
    const alive = new Float64Array(this.program.record.graphs[0]?.name.length ?? 0);
    const change = new Float64Array(alive.length + 1);
    for (let at = 0; at < makers.length; at++) {
      const [from, to] = [Number(makers[at]), Number(lasts[at]) + 1];
      change[from] = Number(change[from]) + Number(held[at]);
      change[to] = Number(change[to]) - Number(held[at]);
    }
    let now = 0;
    for (let at = 0; at < alive.length; at++) {
      now += Number(change[at]);
      alive[at] = now;
    }
    nodes.forEach((node, at) => {
      alive[node] = Number(alive[node]) + Number(scratch[at]);
    });
    return alive;
  }
}

/** As far as `find_largest` of `export_engine/cost/growth.py` looks. */
const FARTHEST = 2 ** 24;

/** The example's sizes; 1 for one without an example. */
export function exampleValues({ record }: Program): number[] {
  return record.symbols.map(({ example }) => example ?? 1);
}

/** An estimate in seconds: per op, the longer of computing and of moving. */
export function estimate(
  { flops, moved }: CostAt,
  device: Device,
): { time: number; bound: number } {
  let [time, memory] = [0, 0];
  for (let at = 0; at < flops.length; at++) {
    const computing = Number(flops[at]) / device.flops;
    const moving = Number(moved[at]) / device.bandwidth;
    time += Math.max(computing, moving);
    if (moving > computing) memory += moving;
  }
  return { time, bound: time > 0 ? memory / time : 0 };
}

type Amounts = "flops" | "moved" | "held" | "scratch" | "inputs";

/** Amounts of a table, ready to be evaluated at each step of a slider: equal ones once. */
class Sums {
  /** Per amount, the one of those that differ. */
  private readonly which: Int32Array;
  private readonly starts: Int32Array;
  private readonly products: Int32Array;
  private readonly scales: Float64Array;

  /** @param tables amounts that are added one by one */
  constructor(tables: AmountTable[]) {
    const count = Math.min(...tables.map(({ starts }) => starts.length - 1));
    const [starts, products, scales]: [number[], number[], number[]] = [[0], [], []];
    const known = new Map<string, number>();
    this.which = new Int32Array(count);
    for (let at = 0; at < count; at++) {
      const parts = tables.map((table) => {
        const [from, to] = [table.starts[at], table.starts[at + 1]];
        return [table.products.slice(from, to), table.scales.slice(from, to)] as const;
      });
      const number = ensure(known, JSON.stringify(parts), () => {
        for (const [own, by] of parts) {
          products.push(...own);
          scales.push(...by);
        }
        return starts.push(products.length) - 2;
      });
      this.which[at] = number;
    }
    this.starts = Int32Array.from(starts);
    this.products = Int32Array.from(products);
    this.scales = Float64Array.from(scales);
  }

  /** @param values of the products */
  at(values: Float64Array): Float64Array {
    const { which, starts, products, scales } = this;
    const different = new Float64Array(starts.length - 1);
    for (let at = 0; at < different.length; at++) {
      let sum = 0;
      const end = Number(starts[at + 1]);
      for (let term = Number(starts[at]); term < end; term++) {
        sum += Number(scales[term]) * Number(values[Number(products[term])]);
      }
      different[at] = sum;
    }
    const all = new Float64Array(which.length);
    for (let at = 0; at < all.length; at++) all[at] = Number(different[Number(which[at])]);
    return all;
  }
}

const total = (amounts: Float64Array): number => {
  let sum = 0;
  for (const each of amounts) sum += each;
  return sum;
};
