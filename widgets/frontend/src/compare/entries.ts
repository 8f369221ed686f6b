/** A diff as a list of what to look at, in the order of the program. Pure. */

import { graphOf, indexOf, type NodeId, nodeId, type Program } from "../program";
import type { Change, Difference, LoneScope, Pair, ProgramDiff, RenamedScope } from "../record.gen";

export interface Entry {
  kind: "changed" | "replaced" | "renamed" | "added" | "removed";
  /** In the program on screen, the first of what it became; null for what was removed. */
  after: NodeId | null;
  /** In the program before; null for what was added. */
  before: NodeId | null;
  changes: Change[];
  /** For a replaced node, all that replaced it; for a renamed or added module, all nodes in it. */
  became: NodeId[];
  /** Why two nodes are taken for the same; empty for what has no partner. */
  why: string;
  /** The module that has another path, or that only one program calls, if that is the entry. */
  scope: RenamedScope | LoneScope | null;
}

/** Both of a comparison. */
export interface Compared {
  before: Program;
  after: Program;
}

/**
 * Every node that differs in itself, in program order; a removed node comes after the one it
 * followed. Changes that only follow from another are left out, and inputs that one of them lacks:
 * the signature's differences list these. A renamed module is one entry, where the first of its
 * nodes is, and so is one that only one of the programs calls.
 */
export function entriesOf(diff: ProgramDiff, programs: Compared): Entry[] {
  const firsts = diff.renamed.map((scope) => scope.pairs.findIndex((pairs) => pairs.length > 0));
  return diff.graphs.flatMap((graph, number) => {
    const { before, after, pairs, removed, added, became } = graph;
    const moved = new Set(diff.renamed.flatMap((scope) => scope.pairs[number] ?? []));
    const renamed = diff.renamed
      .filter((_, at) => firsts[at] === number)
      .map((scope) => renamedEntry(diff, scope, number));
    const changed = pairs
      .filter((pair, at) => !moved.has(at) && pair.changes.some((change) => !change.follows))
      .map(
        (pair): Entry => ({
          kind: "changed",
          before: nodeId(before, pair.before),
          after: nodeId(after, pair.after),
          changes: pair.changes.filter((change) => !change.follows),
          became: [],
          why: pair.why,
          scope: null,
        }),
      );
    const lone = (kind: "added" | "removed", node: number): Entry => ({
      kind,
      before: kind === "removed" ? nodeId(before, node) : null,
      after: kind === "added" ? nodeId(after, node) : null,
      changes: [],
      became: [],
      why: "",
      scope: null,
    });
    const replaced = became.map(
      (each): Entry => ({
        kind: "replaced",
        before: nodeId(before, each.before[0] ?? 0),
        after: nodeId(after, each.after[0] ?? 0),
        changes: [],
        became: each.after.map((node) => nodeId(after, node)),
        why: "what torch recorded",
        scope: null,
      }),
    );
    const modules = diff.modules.filter((each) => each.graph === number);
    const within = (kind: LoneScope["kind"]): number[] =>
      modules.filter((each) => each.kind === kind).flatMap((each) => each.nodes);
    const gone = new Set([...became.flatMap((each) => each.before), ...within("removed")]);
    const made = new Set([...became.flatMap((each) => each.after), ...within("added")]);
    const places = placesBefore(pairs);
    const place = (entry: Entry): number =>
      entry.after === null ? places(indexOf(entry.before ?? 0)) + 0.5 : indexOf(entry.after);
    return [
      ...changed,
      ...renamed,
      ...replaced,
      ...modules.map(
        (scope): Entry => ({
          ...lone(scope.kind, scope.nodes[0] ?? 0),
          became: scope.kind === "added" ? scope.nodes.map((node) => nodeId(after, node)) : [],
          scope,
        }),
      ),
      ...removed
        .filter((node) => !gone.has(node) && !isInput(programs.before, nodeId(before, node)))
        .map((node) => lone("removed", node)),
      ...added
        .filter((node) => !made.has(node) && !isInput(programs.after, nodeId(after, node)))
        .map((node) => lone("added", node)),
    ].sort((a, b) => place(a) - place(b));
  });
}

/** Whether a node is of the program's signature. */
function isInput(program: Program, node: NodeId): boolean {
  return graphOf(node) === 0 && program.op(node) === "placeholder";
}

/** @param number of the first graph that has nodes of the module */
function renamedEntry(diff: ProgramDiff, scope: RenamedScope, number: number): Entry {
  const nodes = scope.pairs.flatMap((pairs, at) => {
    const graph = diff.graphs[at];
    return pairs.map((pair) => nodeId(graph?.after ?? 0, graph?.pairs[pair]?.after ?? 0));
  });
  const graph = diff.graphs[number];
  const first = graph?.pairs[scope.pairs[number]?.[0] ?? 0];
  return {
    kind: "renamed",
    before: nodeId(graph?.before ?? 0, first?.before ?? 0),
    after: nodes[0] ?? null,
    changes: [],
    became: nodes,
    why: "",
    scope,
  };
}

/** The differences outside of the graph, but those of what moved, came or went with a module. */
export function othersOf(diff: ProgramDiff): Difference[] {
  const moved = new Set([...diff.renamed, ...diff.modules].flatMap((scope) => scope.others));
  return diff.others.filter((_, at) => !moved.has(at));
}

/** Per node of the earlier graph, the place of the last matched node before it in the other. */
function placesBefore(pairs: readonly Pair[]): (node: number) => number {
  const places: number[] = [];
  let from = 0;
  let last = -1;
  for (const pair of [...pairs].sort((a, b) => a.before - b.before)) {
    places.length = pair.before;
    places.fill(last, from);
    from = pair.before;
    last = pair.after;
  }
  return (node) => (node < places.length ? (places[node] ?? last) : last);
}

/** The nodes of the program on screen that are changed or new. */
export function nodesOf(entries: readonly Entry[]): NodeId[] {
  return entries.flatMap((entry) => {
    if (entry.became.length > 0) return entry.became;
    return entry.after === null ? [] : [entry.after];
  });
}

/**
 * `2 changed, 1 added.`
 *
 * @param identical whether the kernel proved the programs to be identical
 */
export function summaryOf(
  entries: readonly Entry[],
  others: readonly Difference[],
  identical: boolean,
): string {
  const count = (kind: Entry["kind"]): number =>
    entries.filter((entry) => entry.kind === kind).length;
  if (identical) return "Identical up to names.";
  if (entries.length + others.length === 0) return "Not proven to be identical.";
  const made = entries.reduce(
    (sum, entry) => sum + (entry.kind === "replaced" ? entry.became.length : 0),
    0,
  );
  const modules = entries.reduce(
    (sum, { scope }) => sum + (scope && "modules" in scope ? scope.modules : 0),
    0,
  );
  const parts: [number, string][] = [
    [count("replaced"), `replaced by ${made}`],
    [count("changed"), "changed"],
    [count("added"), "added"],
    [count("removed"), "removed"],
    [modules, modules === 1 ? "module renamed" : "modules renamed"],
    [others.length, "outside of the graph"],
  ];
  const told = parts.filter(([number]) => number > 0);
  return `${told.map(([number, what]) => `${number} ${what}`).join(", ")}.`;
}

/** A node's op and module, in the program that it is in; of an input, `parameter lin.weight`. */
export function titleOf(program: Program, node: NodeId): string {
  const entry = program.input(node);
  if (entry) {
    const place = entry.target || entry.path;
    const kind = entry.kind.replaceAll("_", " ");
    return place === "" || place === program.name(node) ? kind : `${kind} ${place}`;
  }
  const target = program.target(node)?.name ?? program.op(node);
  const scope = program.record.scopes[program.scope(node)]?.path ?? "";
  return scope ? `${target} in ${scope}` : target;
}
