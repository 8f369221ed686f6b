/** The selection, and the nodes that belong to it. Pure. */

import { ensure } from "./maps";
import type { NodeId, Program } from "./program";

/** The selection, which all panes share. */
export type Selection =
  | { kind: "none" }
  | { kind: "nodes"; nodes: readonly NodeId[] }
  /** A node that only the program has which the one on screen is compared with. */
  | { kind: "removed"; node: NodeId }
  | { kind: "scope"; scope: number }
  | { kind: "line"; file: number; line: number }
  | { kind: "symbol"; symbol: number };

/** The highlights of the selection in every pane. */
export interface Lit {
  nodes: ReadonlySet<NodeId>;
  /** Per file, the lines. */
  lines: ReadonlyMap<number, ReadonlySet<number>>;
  symbols: ReadonlySet<number>;
}

/** A line to look at, whether or not anything is selected. */
export interface Place {
  file: number;
  line: number;
}

/** Pure: the nodes, lines and symbols that belong to a selection. */
export function litBy(program: Program | null, selection: Selection): Lit {
  const nodes = new Set<NodeId>();
  const lines = new Map<number, Set<number>>();
  const symbols = new Set<number>();
  if (!program) return { nodes, lines, symbols };
  for (const id of nodesOf(program, selection)) nodes.add(id);
  if (selection.kind === "line") lines.set(selection.file, new Set([selection.line]));
  const light = ({ file, line }: Place): void => {
    ensure(lines, file, () => new Set<number>()).add(line);
  };
  if (selection.kind === "symbol") {
    symbols.add(selection.symbol);
    for (const place of linesOfSymbol(program, selection.symbol, nodes)) light(place);
  }
  if (selection.kind === "nodes") {
    // By stacks and types, which many ops share.
    const stacks = new Set<number>();
    const types = new Set<number>();
    for (const id of nodes) {
      stacks.add(program.stackIndex(id));
      types.add(program.typeIndex(id));
    }
    for (const stack of stacks) program.stackAt(stack).forEach(light);
    for (const type of types) {
      for (const symbol of program.symbolsOfType(program.record.types[type])) symbols.add(symbol);
    }
  }
  return { nodes, lines, symbols };
}

/** The innermost lines that made values of a size, or checked it. */
function* linesOfSymbol(
  program: Program,
  symbol: number,
  nodes: ReadonlySet<NodeId>,
): Generator<Place> {
  const stacks = new Set<number>();
  for (const id of nodes) stacks.add(program.stackIndex(id));
  for (const stack of stacks) {
    const frame = program.stackAt(stack).at(-1);
    if (frame) yield frame;
  }
  for (const guard of program.record.guards) {
    const frame = guard.symbols.includes(symbol) && program.stackAt(guard.stack).at(-1);
    if (frame) yield frame;
  }
}

function nodesOf(program: Program, selection: Selection): Iterable<NodeId> {
  switch (selection.kind) {
    case "none":
    case "removed":
      return [];
    case "nodes":
      return selection.nodes;
    case "line":
      return program.nodesAt(selection.file, selection.line);
    case "symbol": {
      const has = program.record.types.map((type) =>
        program.symbolsOfType(type).has(selection.symbol),
      );
      return [...program.allNodes()].filter((id) => has[program.typeIndex(id)]);
    }
    case "scope": {
      const inside = descendants(program, selection.scope);
      return [...program.allNodes()].filter((id) => inside.has(program.scope(id)));
    }
  }
}

/** A scope and every scope below it. Parents come before children in the record. */
export function descendants(program: Program, root: number): Set<number> {
  const found = new Set([root]);
  program.record.scopes.forEach((scope, index) => {
    if (found.has(scope.parent)) found.add(index);
  });
  return found;
}
