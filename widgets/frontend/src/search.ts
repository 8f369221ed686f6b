/** Search over the ops and modules of a program. Pure. */

import type { NodeId, Program } from "./program";

export interface Found {
  nodes: NodeId[];
  /** Indices into the record's scopes. */
  scopes: number[];
}

const NONE: Found = { nodes: [], scopes: [] };

/**
 * What matches every word of a query, in order, and at least one of them by itself: `layer.3` finds
 * that module and not all that is in it, `layer.3 linear` finds its linear ops.
 *
 * A word is looked for in an op's name, operator, type and `file:line`, and in a module's path and
 * class. `*` stands for one size: `f32[*,768]`. A number is a whole one: `layer.3` is not `layer.30`.
 */
export function search(program: Program, query: string): Found {
  const patterns = wordsOf(query).map(pattern);
  if (patterns.length === 0) return NONE;
  const index = indices.get(program) ?? indexOf(program);
  indices.set(program, index);
  return {
    nodes: index.nodes.flatMap(([id, entry]) => (matches(entry, patterns) ? [id] : [])),
    scopes: index.scopes.flatMap((entry, scope) => (matches(entry, patterns) ? [scope] : [])),
  };
}

/** What is known of one op or module, to be searched. */
interface Entry {
  own: string;
  /** A dotted path of its own, and the path of what it is in: a match in both is not its own. */
  path: string;
  above: string;
  /** Texts of what it is in. */
  around: string;
}

interface Index {
  nodes: [NodeId, Entry][];
  scopes: Entry[];
}

const indices = new WeakMap<Program, Index>();

function matches(entry: Entry, patterns: RegExp[]): boolean {
  let own = false;
  for (const each of patterns) {
    const here = each.test(entry.own) || (each.test(entry.path) && !each.test(entry.above));
    own ||= here;
    if (!here && !each.test(entry.path) && !each.test(entry.around)) return false;
  }
  return own;
}

/** Words are apart by blanks, except within brackets: `f32[batch, 64]` is one. */
function wordsOf(query: string): string[] {
  const joined = query.replace(/\[[^\]]*\]?/g, (sizes) => sizes.replace(/\s+/g, ""));
  return joined.split(/\s+/).filter(Boolean);
}

function pattern(word: string): RegExp {
  const escaped = word.replace(/[.+?^${}()|[\]\\]/g, "\\$&").replaceAll("*", "[^,\\]\\n]*");
  const before = /^\d/.test(word) ? "(?<!\\d)" : "";
  const after = /\d$/.test(word) ? "(?!\\d)" : "";
  return new RegExp(before + escaped + after, "i");
}

function indexOf(program: Program): Index {
  const { scopes } = program.record;
  const texts: string[] = [];
  const entries = scopes.map((scope, index): Entry => {
    const above = scopes[scope.parent];
    const around = texts[scope.parent] ?? "";
    texts[index] = `${around}\n${scope.path}\n${scope.cls}`; // parents come before children
    return { own: scope.cls, path: scope.path, above: above?.path ?? "", around };
  });
  const nodes: [NodeId, Entry][] = [];
  for (const id of program.allNodes()) {
    if (program.op(id) !== "get_attr") nodes.push([id, nodeEntry(program, id, texts)]);
  }
  return { nodes, scopes: entries };
}

function nodeEntry(program: Program, id: NodeId, scopes: readonly string[]): Entry {
  const input = program.input(id);
  const path = input?.target ?? "";
  const lines = program
    .stack(id)
    .map(({ file, line }) => `${program.record.files[file]?.name}:${line}`);
  const type = program.type(id)?.text.replaceAll(", ", ",");
  return {
    own: [program.name(id), program.target(id)?.name, type, input?.path, ...lines].join("\n"),
    path,
    above: path.slice(0, Math.max(path.lastIndexOf("."), 0)),
    around: scopes[program.scope(id)] ?? "",
  };
}
