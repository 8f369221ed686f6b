import { expect, test } from "vitest";
import type { Group } from "../record.gen";
import { mergeGroups } from "./groups";

const group = (name: string, parent = -1, scope = -1, scopes: number[] = []): Group => ({
  function: name,
  parent,
  scope,
  plumbing: false,
  scopes,
});

test("groups that both graphs have are one, by their place, name and order", () => {
  const after = [group("rope"), group("half", 0), group("rope")];
  const before = [group("rope"), group("rope"), group("half", 1)];
  const { groups, numbers } = mergeGroups(after, before, (scope) => scope);
  expect(numbers).toEqual([0, 2, 3]);
  expect(groups[3]).toEqual(group("half", 2));
});

test("a group that only the other graph has keeps its modules under their numbers", () => {
  const { groups, numbers } = mergeGroups([], [group("head", -1, 0, [1])], (scope) => scope + 5);
  expect(numbers).toEqual([0]);
  expect(groups).toEqual([group("head", -1, 5, [6])]);
});
