/** Values of ops in a recorded run, and their errors against another run. */

import { numberText, shareText } from "../format";
import { type NodeId, nodeId, type Program } from "../program";
import { errorsOf, floatsOf } from "../values";
import type { Badge, Decoration, Mark, Measure } from "./decoration";
import { heat } from "./heat";

const NOT_FINITE: Badge = { sign: "!", colour: "var(--tx-danger)" };
const OFF: Badge = { sign: "≠", colour: "var(--tx-danger)" };

/** Ops whose value has a NaN or an infinity. */
export function nonFinite({ record }: Program): Decoration | null {
  const marks = new Map<NodeId, Mark>();
  for (const { graph, nans, infs } of record.values?.graphs ?? []) {
    nans.forEach((count, node) => {
      const infinite = infs[node] ?? 0;
      if (count === 0 && infinite === 0) return;
      marks.set(nodeId(graph, node), { badge: NOT_FINITE, note: `${count} NaN, ${infinite} inf` });
    });
  }
  if (marks.size === 0) return null;
  const legend = [{ badge: NOT_FINITE, text: "Produces NaN or infinities" }];
  return { name: "nonfinite", title: "NaN and inf", noun: "op", marks, legend };
}

/** Ops at which an error enters. */
export function offByValue({ record }: Program): Decoration | null {
  const { pairs } = record;
  if (!pairs || pairs.faults.length === 0) return null;
  const errors = errorsOf(pairs);
  const note = (node: NodeId): string =>
    `relative error ${numberText(errors.get(node)?.own ?? 0)} against ${pairs.other}`;
  const places = pairs.faults.map(({ graph, node }) => nodeId(graph, node));
  return {
    name: "faults",
    title: "Error starts",
    noun: "op",
    marks: new Map(places.map((node) => [node, { badge: OFF, note: note(node) }])),
    legend: [{ badge: OFF, text: `The error starts here, against ${pairs.other}` }],
  };
}

/** The largest absolute value. */
export const magnitude = (program: Program): Decoration | null =>
  statistic(
    program,
    "magnitude",
    "Largest |value|",
    (at) => Math.max(-at.low, at.high),
    numberText,
  );

export const spread = (program: Program): Decoration | null =>
  statistic(program, "std", "Standard deviation", (at) => at.std, numberText);

export const zeros = (program: Program): Decoration | null =>
  statistic(
    program,
    "zeros",
    "Zeros",
    (at) => at.zeros,
    (share) => `${shareText(share)} zeros`,
  );

/** The error that each op adds on its own. */
export function ownError({ record }: Program): Decoration | null {
  const { pairs } = record;
  if (!pairs) return null;
  const amounts = [...errorsOf(pairs)].map(([node, { own }]): [NodeId, number] => [node, own]);
  const text = (error: number): string => `relative error ${numberText(error)}`;
  return coloured("error", `Error against ${pairs.other}`, amounts, text);
}

interface At {
  low: number;
  high: number;
  std: number;
  zeros: number;
}

function statistic(
  { record }: Program,
  name: string,
  title: string,
  amountOf: (at: At) => number,
  text: Measure["text"],
): Decoration | null {
  if (!record.values) return null;
  const amounts: [NodeId, number][] = [];
  for (const each of record.values.graphs) {
    const [low, high, std, none] = [each.minimum, each.maximum, each.std, each.zeros].map(floatsOf);
    each.runs.forEach((runs, node) => {
      if (runs === 0) return;
      const at = {
        low: low?.[node] ?? 0,
        high: high?.[node] ?? 0,
        std: std?.[node] ?? 0,
        zeros: none?.[node] ?? 0,
      };
      amounts.push([nodeId(each.graph, node), amountOf(at)]);
    });
  }
  return coloured(name, title, amounts, text);
}

function coloured(
  name: string,
  title: string,
  amounts: readonly [NodeId, number][],
  text: Measure["text"],
): Decoration {
  const marks = new Map(amounts.map(([node, amount]) => [node, { amount, most: true }]));
  return heat(name, title, marks, text);
}
