/** Statistics of values, as a Record's columns have them. Pure. */

import { numberText } from "./format";
import { graphOf, indexOf, type NodeId, nodeId, type Program } from "./program";
import type { Column, ValuePairs, Values } from "./record.gen";

/** Bars of a histogram, as the kernel sends them. */
export const BINS = 16;

/** The floats whose bits a column has. */
export function floatsOf(column: Column): Float32Array {
  return new Float32Array(Int32Array.from(column).buffer);
}

/** Where a value lies between the least and the greatest: 0 to 1. */
export function share(value: number, low: number, high: number): number {
  return high > low ? (value - low) / (high - low) : 0.5;
}

/** A colour of the scale from blue by grey to orange, as RGBA; what is not finite is red. */
export function heat(
  value: number | null,
  low: number,
  high: number,
): [number, number, number, number] {
  if (value === null) return [220, 20, 60, 255];
  const at = share(value, low, high);
  const mix = (from: number, to: number, by: number): number => Math.round(from + (to - from) * by);
  const [from, to, by]: [number[], number[], number] =
    at < 0.5
      ? [[33, 102, 172], [235, 235, 235], 2 * at]
      : [[235, 235, 235], [214, 96, 20], 2 * at - 1];
  const [red = 0, green = 0, blue = 0] = from.map((each, channel) =>
    mix(each, to[channel] ?? 0, by),
  );
  return [red, green, blue, 255];
}

/** An op's error: its own, its value's, and that as signal to noise in dB. */
export interface OpError {
  own: number;
  whole: number;
  sqnr: number;
}

/** The errors of the ops that have a partner, those of nested graphs last. */
export function errorsOf(pairs: ValuePairs): Map<NodeId, OpError> {
  const found = new Map<NodeId, OpError>();
  for (const each of pairs.graphs) {
    const [own, whole, sqnr] = [each.own, each.relative, each.sqnr].map(floatsOf);
    each.partner.forEach((partner, at) => {
      if (partner < 0) return;
      const error = { own: own?.[at] ?? 0, whole: whole?.[at] ?? 0, sqnr: sqnr?.[at] ?? 0 };
      found.set(nodeId(each.graph, at), error);
    });
  }
  return found;
}

/** An op that makes what is not finite out of finite inputs. */
export interface Made {
  node: NodeId;
  kind: "NaN" | "inf";
  count: number;
  inputs: { node: NodeId; text: string }[];
}

/** A literal infinity among the arguments: a mask's. */
const ON_PURPOSE = /(^|[^\w])-?inf(inity)?\b/i;

/** Ops that make NaN out of inputs without, or infinities out of finite inputs, in order. */
export function madeNonFinite(program: Program, values: Values): Made[] {
  const ran = new Map(values.graphs.map((each) => [each.graph, each]));
  const wrongOf = (id: NodeId): { nans: number; infs: number } => ({
    nans: ran.get(graphOf(id))?.nans[indexOf(id)] ?? 0,
    infs: ran.get(graphOf(id))?.infs[indexOf(id)] ?? 0,
  });
  const found: Made[] = [];
  for (const each of values.graphs) {
    const [low, high] = [each.minimum, each.maximum].map(floatsOf);
    each.runs.forEach((runs, at) => {
      const node = nodeId(each.graph, at);
      const { nans, infs } = wrongOf(node);
      if (runs === 0 || nans + infs === 0 || program.op(node) !== "call_function") return;
      const inputs = [...new Set(program.inputsOf(node))];
      if (inputs.some((id) => program.branchesOf(id).length > 0)) return; // listed in the branch
      const wrong = inputs.map(wrongOf);
      const isNan = nans > 0 && wrong.every((one) => one.nans === 0);
      const text = program.argumentPieces(node).map((piece) => ("text" in piece ? piece.text : ""));
      const isInf =
        infs > 0 &&
        wrong.every((one) => one.nans + one.infs === 0) &&
        !ON_PURPOSE.test(text.join(" "));
      if (!isNan && !isInf) return;
      found.push({
        node,
        kind: isNan ? "NaN" : "inf",
        count: isNan ? nans : infs,
        inputs: inputs
          .filter((id) => (each.runs[indexOf(id)] ?? 0) > 0)
          .map((id) => ({
            node: id,
            text: `${numberText(low?.[indexOf(id)] ?? 0)} to ${numberText(high?.[indexOf(id)] ?? 0)}`,
          })),
      });
    });
  }
  return found;
}
