/** Which nodes of a program match a query; the twin of `export_engine/query/evaluating.py`. */

import { type NodeId, nodeId, type Program } from "../program";
import { numbersOf, textsOf } from "./asked";
import { LACKS } from "./fields.gen";
import { QueryError, type Test, type Tree } from "./parse";
import { pattern, sizesMatch } from "./texts";

type Nodes = ReadonlySet<NodeId>;
/** Nodes that match words; the search box's own search. */
export type WordSearch = (program: Program, words: readonly string[]) => Iterable<NodeId>;

const COMPARE: {
  readonly [sign in Test["compare"]]: (one: number, other: number) => boolean;
} = {
  ":": (one, other) => one === other,
  "=": (one, other) => one === other,
  "!=": (one, other) => one !== other,
  "<": (one, other) => one < other,
  "<=": (one, other) => one <= other,
  ">": (one, other) => one > other,
  ">=": (one, other) => one >= other,
};

/** The nodes that match, in order. Throws QueryError if the query needs missing data. */
export function evaluate(program: Program, tree: Tree, byWords: WordSearch): NodeId[] {
  const everything = new Set<NodeId>();
  for (const id of program.allNodes()) if (program.op(id) !== "get_attr") everything.add(id);
  const found = matching(program, tree, everything, byWords);
  return [...everything].filter((id) => found.has(id));
}

function matching(program: Program, tree: Tree, everything: Nodes, byWords: WordSearch): Nodes {
  const inner = (each: Tree): Nodes => matching(program, each, everything, byWords);
  switch (tree.kind) {
    case "words":
      return new Set(byWords(program, tree.words));
    case "test":
      return tested(program, tree);
    case "not": {
      const without = inner(tree.of);
      return new Set([...everything].filter((id) => !without.has(id)));
    }
    case "all": {
      const [first, ...rest] = tree.of.map(inner);
      return new Set([...(first ?? [])].filter((id) => rest.every((each) => each.has(id))));
    }
    case "any":
      return new Set(tree.of.flatMap((each) => [...inner(each)]));
  }
}

function tested(program: Program, test: Test): Nodes {
  const { name, match, needs } = test.field;
  if (name === "overlay") return overlaid(program, test);
  const found = new Set<NodeId>();
  const absent = () => {
    throw new QueryError(`${name} ${LACKS[needs] ?? "is unknown for this program"}`, test.column);
  };
  if (match === "number") {
    const source = numbersOf(program, name) ?? absent();
    const compare = COMPARE[test.compare];
    const wanted = test.number ?? 0;
    source(program, (id, values) => {
      if (values.some((each) => compare(each, wanted))) found.add(id);
    });
    return found;
  }
  const unlike = test.compare === "!=";
  const matches = textMatcher(test);
  const source = textsOf(program, name) ?? absent();
  source(program, (id, texts) => {
    if (unlike ? texts.length > 0 && !matches(texts) : matches(texts)) found.add(id);
  });
  return found;
}

function textMatcher({ field, text, compare }: Test): (texts: readonly string[]) => boolean {
  if (field.match === "shape") return sizesMatch(text);
  const bare = field.name === "dtype" ? text.replace(/^torch\./, "") : text;
  const wanted = pattern(field.match, bare, compare !== ":");
  const known = new Map<string, boolean>();
  return (texts) =>
    texts.some((each) => {
      const told = known.get(each) ?? wanted.test(each);
      known.set(each, told);
      return told;
    });
}

function overlaid({ record }: Program, test: Test): Nodes {
  const { compare, overlay, text, number } = test;
  const names = record.overlays.map(({ name }) => name);
  if (overlay && !names.includes(overlay)) {
    const there = names.length > 0 ? `; available: ${names.join(", ")}` : ": .annotate() adds one";
    throw new QueryError(`There is no overlay ${overlay}${there}`, test.column);
  }
  const numbers = record.overlays.some(({ name, kind }) => name === overlay && kind === "number");
  if (/[<>]/.test(compare) && !numbers) {
    throw new QueryError(`The overlay ${overlay} has no numbers`, test.column);
  }
  const wanted = pattern("contains", text, compare !== ":");
  const found = new Set<NodeId>();
  for (const each of record.overlays) {
    if (overlay && overlay !== each.name) continue;
    const all = compare === ":" && (text === "*" || (!overlay && wanted.test(each.name)));
    const isNumber = each.kind === "number";
    each.nodes.forEach((node, at) => {
      const holds = isNumber
        ? number !== null && COMPARE[compare](each.numbers[at] ?? 0, number)
        : /^[:=]|^!=/.test(compare) && wanted.test(each.texts[at] ?? "") === (compare !== "!=");
      if (all || holds) found.add(nodeId(each.graphs[at] ?? 0, node));
    });
  }
  return found;
}
