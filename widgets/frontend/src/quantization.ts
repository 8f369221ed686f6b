/** The quantized parts of a program, for views. Pure. */

import { bytesText, numberText } from "./format";
import { type NodeId, nodeId, type Program } from "./program";
import type { QuantizedTensor } from "./record.gen";

const NONE: ReadonlyMap<NodeId, NodeId> = new Map();
const known = new WeakMap<Program, ReadonlyMap<NodeId, NodeId>>();

/** Per node that only quantizes, dequantizes or scales for an op, that op. */
export function foldedInto(program: Program): ReadonlyMap<NodeId, NodeId> {
  const layers = program.record.quantization?.layers;
  if (!layers) return NONE;
  let found = known.get(program);
  if (!found) {
    found = new Map(
      layers.flatMap(({ node, folded }) =>
        folded.map((each): [NodeId, NodeId] => [nodeId(0, each), nodeId(0, node)]),
      ),
    );
    known.set(program, found);
  }
  return found;
}

/** `int8 per channel, scale 0.0012 to 0.0015`. */
export function tensorText(tensor: QuantizedTensor): string {
  const { bits, dtype, dynamic, granularity, group, scale, zero_point } = tensor;
  const parts = [`${dynamic ? "dynamic " : ""}${dtype}`];
  if (bits > 0 && !dtype.includes(String(bits))) parts.push(`(${bits} bits)`);
  if (granularity === "group") parts.push(`per group of ${group}`);
  else if (granularity !== "" && granularity !== "tensor") parts.push(`per ${granularity}`);
  const said = parts.join(" ");
  const scales = scale.length === 2 ? `, scale ${ends(scale.map(numberText))}` : "";
  const zero = zero_point.some((each) => each !== 0);
  return `${said}${scales}${zero ? `, zero point ${ends(zero_point.map(String))}` : ""}`;
}

const ends = (texts: readonly string[]): string => [...new Set(texts)].join(" to ");

/** `384 B of 1 kB`: what quantized weights take, and what they would in float. */
export function weightText(tensors: readonly QuantizedTensor[]): string {
  const weights = tensors.filter(({ role }) => role === "weight");
  if (weights.length === 0) return "";
  const sum = (of: (each: QuantizedTensor) => number): number =>
    weights.reduce((total, each) => total + of(each), 0);
  return `${bytesText(sum((each) => each.bytes))} of ${bytesText(sum((each) => each.float_bytes))}`;
}
