/** Every decoration there is. A new one is a function and its name here; nothing else changes. */

import type { Program } from "../program";
import type { Merged } from "../two_programs";
import { runs, verification } from "./checks";
import type { Decoration } from "./decoration";
import { delegations } from "./delegation";
import { differences } from "./differences";
import { findings } from "./findings";
import { kernels } from "./kernels";
import { LINE, lines } from "./lines";
import { overlays } from "./overlays";
import { memory, time } from "./profile";
import { quantization } from "./quantization";
import { stageNotes } from "./stage_notes";
import { unused } from "./unused";
import { magnitude, nonFinite, offByValue, ownError, spread, zeros } from "./values";

/** The decorations of a program; the first wins if a box has room for one colour. */
const OF_A_PROGRAM: readonly ((program: Program) => Decoration | null)[] = [
  findings,
  verification,
  runs,
  nonFinite,
  offByValue,
  quantization,
  unused,
  stageNotes,
  time,
  memory,
  kernels,
  ownError,
  magnitude,
  spread,
  zeros,
];

/**
 * The decorations of a program.
 *
 * @param merged the program and another as one, where it is compared
 * @param chosen the colouring that was chosen, by its name
 */
export function decorationsOf(
  program: Program,
  merged?: Merged,
  chosen: string | null = null,
): Decoration[] {
  const all = [
    differences(merged),
    // It covers every op, so it is made on demand.
    chosen === LINE ? lines(program) : null,
    ...OF_A_PROGRAM.map((make) => make(program)),
    ...delegations(program),
    ...overlays(program),
  ];
  return all.filter((each) => each !== null);
}

/** Those that colour all ops, of which one is shown at a time. */
export const colourings = (decorations: readonly Decoration[]): Decoration[] =>
  decorations.filter(({ colours, measure }) => colours || measure);
