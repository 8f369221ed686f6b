/** Ops that compute on fewer bits, and those like them that do not. */

import { nodeId, type Program } from "../program";
import { tensorText } from "../quantization";
import { type Badge, type Decoration, marksOfNodes } from "./decoration";

const QUANTIZED: Badge = { sign: "q", colour: "var(--tx-good)" };
const IN_FLOAT: Badge = { sign: "f", colour: "var(--tx-muted)" };

export function quantization({ record }: Program): Decoration | null {
  if (!record.quantization) return null;
  const { layers, in_float } = record.quantization;
  return {
    name: "quantization",
    title: "Quantization",
    noun: "op",
    marks: marksOfNodes([
      ...layers.map(({ node, tensors }) => {
        const said = tensors.map((each) => `${each.role} ${tensorText(each)}`);
        return [nodeId(0, node), { badge: QUANTIZED, note: said.join("; "), rank: 1 }] as const;
      }),
      ...in_float.map(
        ({ node, why }) =>
          [nodeId(0, node), { badge: IN_FLOAT, note: `In float: ${why}` }] as const,
      ),
    ]),
    legend: [
      { badge: QUANTIZED, text: "Quantized; its quantize and scale ops are folded into it" },
      { badge: IN_FLOAT, text: "Float op that is often quantized" },
    ],
  };
}
