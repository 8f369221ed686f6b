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
  /** Why a query finds nothing, and at which column, from 1; null where it can be read. */
  problem: { reason: string; column: number } | null;
}

/** Makes beforehand what the first search would wait for. */
export function prepareSearch(program: Program): void {
  search(program, "a");
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
  const seekers = words.map((word) => new Seeker(program, patternOf(word)));
  if (seekers.length === 0) return { nodes: [], scopes: [], asked: false, problem: null };
  const nodes = nodesWhere(program, (graph, at) =>
    isFound(seekers, (each) => each.inNode(graph, at)),
  );
  const scopes = [...program.record.scopes.keys()].filter((scope) =>
    isFound(seekers, (each) => each.inScope(scope)),
  );
  return { nodes, scopes, asked: false, problem: null };
}

/** Whether each word is found, and one of them in the thing itself. */
function isFound(seekers: readonly Seeker[], seek: (each: Seeker) => Where): boolean {
  let own = false;
  for (const each of seekers) {
    const where = seek(each);
    if (where === NOWHERE) return false;
    own ||= where === OWN;
  }
  return own;
}

/** The ops that match every word, by themselves or by a module that they are in. */
function withWords(program: Program, words: readonly string[]): NodeId[] {
  const seekers = words.map((word) => new Seeker(program, patternOf(word)));
  return nodesWhere(program, (graph, at) =>
    seekers.every((each) => each.inNode(graph, at) !== NOWHERE),
  );
}

/** A word as a pattern; blanks within brackets do not matter: `f32[batch, 64]`. */
const patternOf = (word: string): RegExp =>
  contains(word.replace(/\[[^\]]*\]?/g, (sizes) => sizes.replace(/\s+/g, "")));

/** Where a word was found: in a thing itself, in what it is in, or in neither. */
const [NOWHERE, AROUND, OWN] = [0, 1, 2] as const;
type Where = typeof NOWHERE | typeof AROUND | typeof OWN;

/**
 * Looks for one word. What many ops share, such as a type or a stack, is looked at once, and all
 * names in one pass, so that a hundred thousand ops are searched while one types.
 */
class Seeker {
  /** Of each graph, and so on: 1 where the word is in it. */
  private readonly names: readonly Uint8Array[];
  private readonly targets: Uint8Array;
  private readonly types: Uint8Array;
  private readonly stacks: Uint8Array;
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
    const inScope = flags(
      scopes.length,
      (at) => this.has(scopes[at]?.path) || this.has(scopes[at]?.cls),
    );
    this.around = flags(scopes.length, (at) => {
      for (let outer = at; outer >= 0; outer = scopes[outer]?.parent ?? -1) {
        if (inScope[outer] === 1) return true;
      }
      return false;
    });
  }

  inNode(graph: number, at: number): Where {
    const { op, scope, stack, target, type } = this.program.graph(graph);
    const own =
      this.names[graph]?.[at] === 1 ||
      this.targets[target[at] ?? -1] === 1 ||
      this.types[type[at] ?? -1] === 1 ||
      this.stacks[stack[at] ?? -1] === 1;
    if (own) return OWN;
    const home = scope[at] ?? -1;
    return op[at] === PLACEHOLDER ? this.inInput(nodeId(graph, at), home) : this.isAround(home);
  }

  inScope(scope: number): Where {
    const { cls, parent, path } = this.program.record.scopes[scope] ?? {
      cls: "",
      parent: -1,
      path: "",
    };
    if (this.has(cls)) return OWN;
    return this.within(path, this.program.record.scopes[parent]?.path ?? "", parent);
  }

  private inInput(id: NodeId, scope: number): Where {
    const input = this.program.input(id);
    if (this.has(input?.path)) return OWN;
    const path = input?.target ?? "";
    return this.within(path, path.slice(0, Math.max(path.lastIndexOf("."), 0)), scope);
  }

  /** A match in a path that is in the path of what it is in, too, is not its own. */
  private within(path: string, above: string, scope: number): Where {
    const here = path !== "" && this.has(path);
    if (here && !this.has(above)) return OWN;
    return here ? AROUND : this.isAround(scope);
  }

  private isAround(scope: number): Where {
    return this.around[scope] === 1 ? AROUND : NOWHERE;
  }

  private has(text: string | undefined): boolean {
    return text !== undefined && this.pattern.test(text);
  }
}

/** 1 where it is so. */
function flags(count: number, isSo: (at: number) => boolean): Uint8Array {
  const found = new Uint8Array(count);
  for (let at = 0; at < count; at++) if (isSo(at)) found[at] = 1;
  return found;
}

/** The nodes that a search may find, of which something holds. */
function nodesWhere(program: Program, holds: (graph: number, at: number) => boolean): NodeId[] {
  const found: NodeId[] = [];
  program.record.graphs.forEach(({ op }, graph) => {
    for (let at = 0; at < op.length; at++) {
      if (op[at] !== GET_ATTR && holds(graph, at)) found.push(nodeId(graph, at));
    }
  });
  return found;
}
