/** The groups of two graphs as one table: those of the one on screen first, under their numbers. */

import type { Group } from "../record.gen";

/**
 * @param after of the graph on screen
 * @param before of the other
 * @param scopeOf the number among all of a scope of the other
 * @returns all of them, and per group of the other its number
 */
export function mergeGroups(
  after: readonly Group[],
  before: readonly Group[],
  scopeOf: (scope: number) => number,
): { groups: Group[]; numbers: number[] } {
  const groups = [...after];
  const numbers: number[] = [];
  const known = new Map(keys(after).map((key, at) => [key, at]));
  const own = before.map((each) => ({ ...each, scope: scopeOf(each.scope) }));
  keys(own).forEach((key, at) => {
    const each = own[at] as Group;
    const parent = numbers[each.parent] ?? -1; // parents come before children
    const scopes = each.scopes.map(scopeOf);
    numbers.push(known.get(key) ?? groups.push({ ...each, parent, scopes }) - 1);
  });
  return { groups, numbers };
}

/** The key of equal groups: their place, their name, their number. */
function keys(groups: readonly Group[]): string[] {
  const counts = new Map<string, number>();
  const made: string[] = [];
  for (const { function: name, parent, scope } of groups) {
    const plain = `${made[parent] ?? ""}/${scope}.${name}`;
    const count = counts.get(plain) ?? 0;
    counts.set(plain, count + 1);
    made.push(`${plain}#${count}`);
  }
  return made;
}
