/** Search over the ops and modules of a program: by words, or by a query. Pure. */

import { list, type NodeId, nodeId, type Program } from "./program";
import { evaluate } from "./query/evaluate";
import { parse, QueryError } from "./query/parse";
import { contains } from "./query/texts";
import { OPS } from "./record.gen";
import { namesFound } from "./search_names";

const PLACEHOLDER = OPS.indexOf("placeholder");
const GET_ATTR = OPS.indexOf("get_attr");

export interface Found {
  nodes: NodeId[];
  /** Indices into the record's scopes. */
  scopes: number[];
  /** Whether it was a query and not words alone: its matches are lit in the graph. */
  asked: boolean;
  /** Why a query finds nothing, and at which column, from 1; null if it is valid. */
  problem: { reason: string; column: number } | null;
}

/** Makes beforehand what the first search would wait for. */
export function prepareSearch(program: Program): void {
  search(program, "a");
}

/** The nodes that a text in the search box finds. */
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
 * Items that match every word, in order, and at least one of them directly: `layer.3` finds that
 * module and not all that is in it, `layer.3 linear` finds its linear ops.
 *
 * A word is looked for in an op's name, operator, type and `file:line`, and in a module's path and
 * class. `*` matches one size: `f32[*,768]`. A number is a whole one: `layer.3` is not `layer.30`.
 */
function byWords(program: Program, words: readonly string[]): Found {
  const seekers = words.map((word) => new Seeker(program, patternOf(word)));
  const nodes = nodesWhere(program, seekers, OWN);
  const inScopes = together(seekers.map((each) => each.inScopes()));
  const scopes = [...inScopes.keys()].filter((scope) => inScopes[scope] === OWN);
  return { nodes, scopes, asked: false, problem: null };
}

/** The ops that match every word, by themselves or by a module that they are in. */
function withWords(program: Program, words: readonly string[]): NodeId[] {
  const seekers = words.map((word) => new Seeker(program, patternOf(word)));
  return nodesWhere(program, seekers, AROUND);
}

/** The nodes that a search may find, in which all words are found at least as near as required. */
function nodesWhere(program: Program, seekers: readonly Seeker[], near: Where): NodeId[] {
  const found: NodeId[] = [];
  program.record.graphs.forEach(({ op }, graph) => {
    const where = together(seekers.map((each) => each.inGraph(graph)));
    for (let at = 0; at < where.length; at++) {
      if ((where[at] ?? NOWHERE) >= near && op[at] !== GET_ATTR) found.push(nodeId(graph, at));
    }
  });
  return found;
}

/** Where several words are found together: nowhere if one is missing, else at the nearest. */
function together([first, ...others]: readonly Uint8Array[]): Uint8Array {
  const all = first ?? new Uint8Array();
  for (const other of others) {
    for (let at = 0; at < all.length; at++) {
      const [one, two] = [all[at] ?? NOWHERE, other[at] ?? NOWHERE];
      all[at] = one === NOWHERE || two === NOWHERE ? NOWHERE : Math.max(one, two);
    }
  }
  return all;
}

/** A word as a pattern; blanks within brackets do not matter: `f32[batch, 64]`. */
const patternOf = (word: string): RegExp =>
  contains(word.replace(/\[[^\]]*\]?/g, (sizes) => sizes.replace(/\s+/g, "")));

/** Where a word was found: in neither, in what a thing is in, or in the thing itself. */
const [NOWHERE, AROUND, OWN] = [0, 1, 2] as const;
type Where = typeof NOWHERE | typeof AROUND | typeof OWN;

/**
 * Looks for one word. Shared data, such as a type or a stack, is searched once, and all names in
 * one pass, so that a hundred thousand ops are searched while one types.
 */
class Seeker {
  /** For each graph, and so on: 1 if the word is in it. */
  private readonly names: readonly Uint8Array[];
  private readonly targets: Uint8Array;
  private readonly types: Uint8Array;
  private readonly stacks: Uint8Array;
  private readonly paths: Uint8Array;
  private readonly classes: Uint8Array;
  /** Whether it is in the path or class of a scope, or of one that the scope is in. */
  private readonly around: Uint8Array;

  constructor(
    private readonly program: Program,
    private readonly pattern: RegExp,
  ) {
    const { files, frames, scopes, stacks, targets, types } = program.record;
    this.names = namesFound(program, pattern);
    this.targets = flags(targets.length, (at) => this.has(targets[at]?.name));
    this.types = flags(types.length, (at) => this.has(types[at]?.text.replaceAll(", ", ",")));
    const inFrame = flags(frames.line.length, (at) =>
      this.has(`${files[frames.file[at] ?? -1]?.name}:${frames.line[at]}`),
    );
    this.stacks = flags(stacks.starts.length - 1, (at) =>
      Array.prototype.some.call(list(stacks, at), (frame: number) => inFrame[frame] === 1),
    );
    this.paths = flags(scopes.length, (at) => this.has(scopes[at]?.path || undefined));
    this.classes = flags(scopes.length, (at) => this.has(scopes[at]?.cls));
    this.around = flags(scopes.length, (at) => {
      for (let outer = at; outer >= 0; outer = scopes[outer]?.parent ?? -1) {
        if (this.paths[outer] === 1 || this.classes[outer] === 1) return true;
      }
      return false;
    });
  }

  /** Where the word is found, of each node of a graph. */
  inGraph(graph: number): Uint8Array {
    const { op, scope, stack, target, type } = this.program.graph(graph);
    const names = this.names[graph] ?? new Uint8Array();
    return places(op.length, (at) => {
      const own =
        names[at] === 1 ||
        this.targets[target[at] ?? -1] === 1 ||
        this.types[type[at] ?? -1] === 1 ||
        this.stacks[stack[at] ?? -1] === 1;
      if (own) return OWN;
      const home = scope[at] ?? -1;
      return op[at] === PLACEHOLDER ? this.inInput(nodeId(graph, at), home) : this.isAround(home);
    });
  }

  /** Where the word is found, of each scope. A match in the path above is not its own. */
  inScopes(): Uint8Array {
    const { scopes } = this.program.record;
    return places(scopes.length, (at) => {
      const parent = scopes[at]?.parent ?? -1;
      const own = this.classes[at] === 1 || (this.paths[at] === 1 && this.paths[parent] !== 1);
      if (own) return OWN;
      return this.paths[at] === 1 ? AROUND : this.isAround(parent);
    });
  }

  private inInput(id: NodeId, scope: number): Where {
    const input = this.program.input(id);
    if (this.has(input?.path)) return OWN;
    const path = input?.target ?? "";
    const here = path !== "" && this.has(path);
    if (here && !this.has(path.slice(0, Math.max(path.lastIndexOf("."), 0)))) return OWN;
    return here ? AROUND : this.isAround(scope);
  }

  private isAround(scope: number): Where {
    return this.around[scope] === 1 ? AROUND : NOWHERE;
  }

  private has(text: string | undefined): boolean {
    return text !== undefined && this.pattern.test(text);
  }
}

/** 1 if it matches. */
function flags(count: number, isSo: (at: number) => boolean): Uint8Array {
  const found = new Uint8Array(count);
  for (let at = 0; at < count; at++) if (isSo(at)) found[at] = 1;
  return found;
}

/** Where something is found, of each of a number of things. */
function places(count: number, where: (at: number) => Where): Uint8Array {
  const found = new Uint8Array(count);
  for (let at = 0; at < count; at++) found[at] = where(at);
  return found;
}
