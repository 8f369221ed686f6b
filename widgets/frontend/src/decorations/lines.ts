/** The source line that made each op: every line and its ops in a colour of their own. */

import { bestFrame } from "../callers";
import type { Forest, Item } from "../forest/items";
import { ensure } from "../maps";
import { type NodeId, nodeId, type Program } from "../program";
import type { Decoration, Gathered, Mark } from "./decoration";

/** By which it is chosen. */
export const LINE = "line";
/** As many as `--tx-sym-` has; lines that follow one another differ, and the next one starts over. */
const COLOURS = 10;
const WITHOUT_A_LINE: Mark = { colour: "var(--tx-border)" };

/** Per file and line, 1-based, the colour of the ops that it made itself. */
type LineColours = ReadonlyMap<number, ReadonlyMap<number, string>>;

const known = new WeakMap<Program, LineColours>();

/** The colours of a program's lines: the innermost of the user's own that an op was made through. */
export function lineColours(program: Program): LineColours {
  return ensure(known, program, () => {
    const made = new Map<number, Set<number>>();
    for (const stack of stacksOf(program)) {
      const frame = bestFrame(program, program.stackAt(stack));
      if (frame) ensure(made, frame.file, () => new Set<number>()).add(frame.line);
    }
    return new Map([...made].map(([file, lines]) => [file, coloursOf(lines)]));
  });
}

function coloursOf(lines: ReadonlySet<number>): Map<number, string> {
  const sorted = [...lines].sort((a, b) => a - b);
  return new Map(sorted.map((line, at) => [line, `var(--tx-sym-${at % COLOURS})`]));
}

/** The stacks of ops. The inputs of some programs have one too, though no line made them. */
function stacksOf(program: Program): Set<number> {
  const found = new Set<number>();
  for (const id of ops(program)) found.add(program.stackIndex(id));
  return found;
}

function* ops(program: Program): Generator<NodeId> {
  for (let graph = 0; graph < program.record.graphs.length; graph++) {
    const count = program.record.graphs[graph]?.name.length ?? 0;
    for (let node = 0; node < count; node++) {
      const id = nodeId(graph, node);
      if (program.op(id) === "call_function") yield id;
    }
  }
}

export function lines(program: Program): Decoration {
  const colours = lineColours(program);
  const marks = new Map<NodeId, Mark>();
  const ofStack = new Map<number, Mark>();
  for (const id of ops(program)) {
    const mark = ensure(ofStack, program.stackIndex(id), () => {
      const frame = bestFrame(program, program.stack(id));
      const colour = frame && colours.get(frame.file)?.get(frame.line);
      return colour ? { colour } : WITHOUT_A_LINE;
    });
    marks.set(id, mark);
  }
  return {
    name: LINE,
    title: "source line",
    noun: "op",
    marks,
    legend: [{ text: "Each source line and its ops have one colour, here and in Source" }],
    colours: true,
    gather: (forest) => gather(forest, marks),
  };
}

/** A box that holds ops has the colour that all of them have. */
function gather({ root }: Forest, marks: ReadonlyMap<NodeId, Mark>): Map<Item, Gathered> {
  const found = new Map<Item, Gathered>();
  const visit = (item: Item): Set<string> => {
    const own = marks.get(item.node)?.colour;
    const colours = new Set(own ? [own] : []);
    for (const child of item.children) for (const each of visit(child)) colours.add(each);
    const [colour] = colours;
    if (colour && (own || colours.size === 1)) {
      found.set(item, { colour: own ?? colour, own: true });
    }
    return colours;
  };
  visit(root);
  return found;
}
