/** Search over the ops and modules of a program: by words, or by a query. Pure. */

import { ensure } from "./maps";
import { graphOf, indexOf, list, type NodeId, type Program } from "./program";
import { evaluate } from "./query/evaluate";
import { parse, QueryError } from "./query/parse";
import { contains } from "./query/texts";
import { OPS } from "./record.gen";

const PLACEHOLDER = OPS.indexOf("placeholder");

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
  const seekers = words.map((word) => new Seeker(program, patternOf(word)));
  if (seekers.length === 0) return { nodes: [], scopes: [], asked: false, problem: null };
  const nodes = ops(program).filter((id) => isFound(seekers, (each) => each.inNode(id)));
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
    if (where === "nowhere") return false;
    own ||= where === "own";
  }
  return own;
}

/** The ops that match every word, by themselves or by a module that they are in. */
function withWords(program: Program, words: readonly string[]): NodeId[] {
  const seekers = words.map((word) => new Seeker(program, patternOf(word)));
  return ops(program).filter((id) => seekers.every((each) => each.inNode(id) !== "nowhere"));
}

/** A word as a pattern; blanks within brackets do not matter: `f32[batch, 64]`. */
const patternOf = (word: string): RegExp =>
  contains(word.replace(/\[[^\]]*\]?/g, (sizes) => sizes.replace(/\s+/g, "")));

/** Where a word was found: in a thing itself, in what it is in, or in neither. */
type Where = "own" | "around" | "nowhere";

/**
 * Looks for one word. What many ops share, such as a type or a stack, is looked at once, so that a
 * hundred thousand ops are searched while one types.
 */
class Seeker {
  private readonly targets: (at: number) => boolean;
  private readonly types: (at: number) => boolean;
  private readonly stacks: (at: number) => boolean;
  /** Whether it is in the path or class of a scope, or of one that the scope is in. */
  private readonly around: (at: number) => boolean;

  constructor(
    private readonly program: Program,
    private readonly pattern: RegExp,
  ) {
    const { files, frames, scopes, stacks, targets, types } = program.record;
    const frameHas = this.memo((at) =>
      this.has(`${files[frames.file[at] ?? -1]?.name}:${frames.line[at]}`),
    );
    this.targets = this.memo((at) => this.has(targets[at]?.name));
    this.types = this.memo((at) => this.has(types[at]?.text.replaceAll(", ", ",")));
    this.stacks = this.memo((at) => Array.prototype.some.call(list(stacks, at), frameHas));
    this.around = this.memo((at): boolean => {
      const { cls, parent, path } = scopes[at] ?? { cls: "", parent: -1, path: "" };
      return this.has(path) || this.has(cls) || (parent >= 0 && this.around(parent));
    });
  }

  inNode(id: NodeId): Where {
    const { program } = this;
    const graph = program.graph(graphOf(id));
    const at = indexOf(id);
    const own = // what ops share first: it is known soon
      this.targets(graph.target[at] ?? -1) ||
      this.types(graph.type[at] ?? -1) ||
      this.stacks(graph.stack[at] ?? -1) ||
      this.has(program.name(id));
    if (own) return "own";
    const scope = graph.scope[at] ?? -1;
    if (graph.op[at] !== PLACEHOLDER) return this.around(scope) ? "around" : "nowhere";
    const input = program.input(id);
    if (this.has(input?.path)) return "own";
    const path = input?.target ?? "";
    const above = path.slice(0, Math.max(path.lastIndexOf("."), 0));
    return this.within(path, above, scope);
  }

  inScope(scope: number): Where {
    const { cls, parent, path } = this.program.record.scopes[scope] ?? {
      cls: "",
      parent: -1,
      path: "",
    };
    if (this.has(cls)) return "own";
    return this.within(path, this.program.record.scopes[parent]?.path ?? "", parent);
  }

  /** A match in a path that is in the path of what it is in, too, is not its own. */
  private within(path: string, above: string, scope: number): Where {
    const here = path !== "" && this.has(path);
    if (here && !this.has(above)) return "own";
    return here || this.around(scope) ? "around" : "nowhere";
  }

  private has(text: string | undefined): boolean {
    return text !== undefined && this.pattern.test(text);
  }

  private memo(test: (at: number) => boolean): (at: number) => boolean {
    const known: (boolean | undefined)[] = [];
    return (at) => {
      if (at < 0) return false;
      known[at] ??= test(at);
      return known[at];
    };
  }
}

/** The nodes that a search may find. */
const ops = (program: Program): readonly NodeId[] =>
  ensure(searched, program, () =>
    [...program.allNodes()].filter((id) => program.op(id) !== "get_attr"),
  );

const searched = new WeakMap<Program, readonly NodeId[]>();
