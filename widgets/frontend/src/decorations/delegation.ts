/** Ops that delegation backends took, and ops that they could take. */

import { isInside, nodeOfOp, opsOnTensors, reasonOf, verdictsOf } from "../delegation";
import { capped } from "../format";
import { ensure } from "../maps";
import type { NodeId, Program } from "../program";
import type { DelegatedOp, Delegation, OpTable } from "../record.gen";
import type { Decoration, Mark } from "./decoration";

const INSIDE = "var(--tx-good)";
const OUTSIDE = "var(--tx-danger)";
const PARTLY = "var(--tx-warn)";
const UNKNOWN = "var(--tx-border)";
const OUT = { sign: "✗", colour: OUTSIDE };

/** By which the colours of a delegation are chosen. */
export const delegationName = (backend: string): string => `delegate ${backend}`;
/** By which those of what a backend could take are. */
export const takeName = (backend: string): string => `can take ${backend}`;

/** One per backend that the program was lowered for, and one per backend that was queried. */
export function delegations(program: Program): Decoration[] {
  const { delegations: all, op_table: table } = program.record;
  return [
    ...all.map((each) => ofDelegation(program, each)),
    ...(table?.answers ?? []).map((each) => ofAnswer(program, table as OpTable, each)),
  ];
}

function ofDelegation(program: Program, delegation: Delegation): Decoration {
  const ops = new Map<NodeId, DelegatedOp[]>();
  for (const op of opsOnTensors(delegation)) {
    const node = nodeOfOp(program, delegation, op);
    if (node >= 0) ensure(ops, node, () => [] as DelegatedOp[]).push(op);
  }
  const title = capped(delegation.title, 40);
  const marks = new Map([...ops].map(([node, of]) => [node, markOf(of)]));
  const colours = new Set([...marks.values()].map(({ colour }) => colour));
  const legend = [
    { colour: INSIDE, text: `${title}: inside a partition` },
    { badge: OUT, colour: OUTSIDE, text: `${title}: outside` },
    { colour: PARTLY, text: `${title}: partly inside` },
  ];
  return {
    name: delegationName(delegation.backend),
    title: `${title} partitions`,
    noun: "op",
    marks,
    legend: legend.filter(({ colour }) => colours.has(colour)),
    colours: true,
  };
}

function markOf(ops: readonly DelegatedOp[]): Mark {
  const outside = ops.filter((op) => !isInside(op));
  const partitions = [...new Set(ops.filter(isInside).map(({ partition }) => partition))];
  const told = [
    ...(partitions.length > 0 ? [`in partition ${partitions.join(", ")}`] : []),
    ...new Set(outside.map((op) => `outside: ${reasonOf(op)}`)),
  ];
  const note = told.join("; ");
  if (outside.length === 0) return { colour: INSIDE, note };
  const colour = partitions.length > 0 ? PARTLY : OUTSIDE;
  return { colour, note, badge: OUT, rank: partitions.length > 0 ? 1 : 2 };
}

function ofAnswer(
  program: Program,
  table: OpTable,
  answer: OpTable["answers"][number],
): Decoration {
  const title = capped(answer.title, 40);
  return {
    name: takeName(answer.backend),
    title: `${title} can take`,
    noun: "op",
    marks: new Map(
      verdictsOf(program, table, answer).map(({ node, taken, reason }) => [
        node,
        taken
          ? { colour: INSIDE, note: "can be taken" }
          : taken === null
            ? { colour: UNKNOWN, note: "not known" }
            : { colour: OUTSIDE, badge: OUT, rank: 2, note: reason || "not taken" },
      ]),
    ),
    legend: [
      { colour: INSIDE, text: `${title} can take it` },
      { badge: OUT, colour: OUTSIDE, text: `${title} cannot take it` },
      { colour: UNKNOWN, text: `Not known for ${title}` },
    ],
    colours: true,
  };
}
