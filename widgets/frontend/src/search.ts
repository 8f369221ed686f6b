/** Search over the ops and modules of a program: by words, or by a query. Pure. */

import type { NodeId, Program } from "./program";
import { evaluate } from "./query/evaluate";
import { parse, QueryError } from "./query/parse";
import { contains } from "./query/texts";

export interface Found {
  nodes: NodeId[];
  /** Indices into the record's scopes. */
  scopes: number[];
  /** Whether it was a query and not words alone: its matches are lit in the graph. */
  asked: boolean;
  /** Why a query finds nothing, and at which column, from 1; null where it can be read. */
  problem: { reason: string; column: number } | null;
}

/** What a text in the search box finds. */
export function search(program: Program, text: string): Found {
  try {
    const tree = parse(text);
    if (tree.kind === "words") return byWords(program, tree.words);
    const nodes = evaluate(program, tree, (_, words) => withWords(program, words));
    return { nodes, scopes: [], asked: true, problem: null };
  } catch (error) {
    if (!(error instanceof QueryError)) throw error;
    const { reason, column } = error;
    return { nodes: [], scopes: [], asked: true, problem: { reason, column } };
  }
}

/**
 * What matches every word, in order, and at least one of them by itself: `layer.3` finds that
 * module and not all that is in it, `layer.3 linear` finds its linear ops.
 *
 * A word is looked for in an op's name, operator, type and `file:line`, and in a module's path and
 * class. `*` stands for one size: `f32[*,768]`. A number is a whole one: `layer.3` is not `layer.30`.
 */
function byWords(program: Program, words: readonly string[]): Found {
  const patterns = words.map(patternOf);
  if (patterns.length === 0) return { nodes: [], scopes: [], asked: false, problem: null };
  const { nodes, scopes } = indexFor(program);
  return {
    nodes: nodes.flatMap(([id, entry]) => (matches(entry, patterns) ? [id] : [])),
    scopes: scopes.flatMap((entry, scope) => (matches(entry, patterns) ? [scope] : [])),
    asked: false,
    problem: null,
  };
}

/** The ops that match every word, by themselves or by a module that they are in. */
function withWords(program: Program, words: readonly string[]): NodeId[] {
  const patterns = words.map(patternOf);
  const all = ({ own, path, around }: Entry): boolean =>
    patterns.every((each) => each.test(own) || each.test(path) || each.test(around));
  return indexFor(program).nodes.flatMap(([id, entry]) => (all(entry) ? [id] : []));
}

/** A word as a pattern; blanks within brackets do not matter: `f32[batch, 64]`. */
const patternOf = (word: string): RegExp =>
  contains(word.replace(/\[[^\]]*\]?/g, (sizes) => sizes.replace(/\s+/g, "")));

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

function indexFor(program: Program): Index {
  const index = indices.get(program) ?? indexOf(program);
  indices.set(program, index);
  return index;
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
