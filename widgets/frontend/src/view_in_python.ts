/**
 * The view state in names that Python can use: the selected op, the open modules, the pane. Pure.
 */

import type { First } from "./host";
import type { NodeId, Program } from "./program";
import type { Selection } from "./selection";
import type { Opened } from "./view_state";

const MOST_NAMES = 20;

/** The selection of some names: a module, a size, a line, or ops; nothing if they are unknown. */
export function selectionOf(program: Program, names: readonly string[]): Selection {
  const { files, scopes, symbols } = program.record;
  const [only = ""] = names.length === 1 ? names : [];
  const scope = only ? scopes.findIndex(({ path }) => path === only) : -1;
  const nodes = scope < 0 ? nodesNamed(program, new Set(names)) : [];
  if (scope >= 0) return { kind: "scope", scope };
  if (nodes.length > 0) return { kind: "nodes", nodes };
  const symbol = only ? symbols.findIndex(({ name }) => name === only) : -1;
  if (symbol >= 0) return { kind: "symbol", symbol };
  const [, name, line] = /^(.*):(\d+)$/.exec(only) ?? [];
  const file = files.findIndex((each) => each.name === name);
  return file >= 0 ? { kind: "line", file, line: Number(line) } : { kind: "none" };
}

/** Of nodes of one name in several graphs, that of the first. */
function nodesNamed(program: Program, names: ReadonlySet<string>): NodeId[] {
  const found = new Map<string, NodeId>();
  for (const id of program.allNodes()) {
    const name = program.name(id);
    if (names.has(name) && !found.has(name)) found.set(name, id);
  }
  return [...found.values()];
}

/** The scopes of some modules, each call of them. */
export function scopesOf(program: Program, paths: readonly string[]): number[] {
  const wanted = new Set(paths);
  return program.record.scopes.flatMap(({ path }, at) => (path && wanted.has(path) ? [at] : []));
}

/** A line of Python that shows what is seen now: `ex.view(select="linear_3", open="layers.0")`. */
export function lineOfPython(
  program: Program,
  selection: Selection,
  open: readonly number[],
  tab: Opened,
  name = "ex",
): string {
  const paths = open.flatMap((scope) => program.record.scopes[scope]?.path || []);
  const parts: [keyof First, string[]][] = [
    ["select", namesOf(program, selection)],
    ["open", [...new Set(paths)]],
    ["tab", tab === "inspector" || tab === "differences" ? [] : [tab]],
  ];
  const told = parts.flatMap(([name, values]) => {
    if (values.length === 0) return [];
    const texts = values.map((value) => JSON.stringify(value)); // as Python writes them, too
    return [`${name}=${texts.length === 1 ? texts[0] : `[${texts.join(", ")}]`}`];
  });
  return `${name}.view(${told.join(", ")})`;
}

function namesOf(program: Program, selection: Selection): string[] {
  const { files, scopes, symbols } = program.record;
  switch (selection.kind) {
    case "nodes":
      return selection.nodes.slice(0, MOST_NAMES).map((node) => program.name(node));
    case "scope":
      return [scopes[selection.scope]?.path ?? ""].filter(Boolean);
    case "symbol":
      return [symbols[selection.symbol]?.name ?? ""].filter(Boolean);
    case "line":
      return [`${files[selection.file]?.name}:${selection.line}`];
    default:
      return [];
  }
}
