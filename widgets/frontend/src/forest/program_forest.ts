/**
 * The forest of a program, shared by graph and outline: scopes and ops, runs of repeated layers,
 * and chunks of groups too large to draw. Views do not modify it.
 */

import { ensure } from "../maps";
import type { Program } from "../program";
import { cutLarge } from "./chunks";
import { buildForest, type Options } from "./forest";
import type { Forest, Item } from "./items";
import { stackRepeats } from "./repeats";

const known = new WeakMap<Program, Map<string, Forest>>();

/** The forest of all of a program: made once, the same one each time. */
export function forestOf(program: Program, options: Omit<Options, "only">): Forest {
  const { housekeeping, parameters } = options;
  const forests = ensure(known, program, () => new Map<string, Forest>());
  return ensure(forests, `${housekeeping} ${parameters}`, () =>
    gatheredForest(program, { housekeeping, parameters }),
  );
}

/**
 * A forest of its own.
 *
 * @param apartIn items that must stay separate, whatever their structure
 */
export function gatheredForest(
  program: Program,
  options: Options,
  apartIn: (forest: Forest) => (item: Item) => boolean = () => () => false,
): Forest {
  const forest = buildForest(program, options);
  stackRepeats(program, forest, apartIn(forest));
  cutLarge(program, forest);
  return forest;
}
