/** The source line of each op: each line and its ops share one colour. */

import type { Forest, Item } from "../forest/items";
import { ensure } from "../maps";
import type { Frame, NodeId, Program } from "../program";
import { symbolColour } from "../symbol_colour";
import { bestFrame } from "../user_frames";
import type { Decoration, Gathered, Mark } from "./decoration";

/** By which it is chosen. */
export const LINE = "line";
const WITHOUT_A_LINE: Mark = { colour: "var(--tx-border)" };

/** Per file and line, 1-based, the colour of the ops that it made itself. */
type LineColours = ReadonlyMap<number, ReadonlyMap<number, string>>;

interface Coloured {
  ofLine: LineColours;
  /** Per stack of an op, by its index. */
  ofStack: ReadonlyMap<number, Mark>;
}

const known = new WeakMap<Program, Coloured>();

/** The colours of a program's lines: the innermost of the user's own that an op was made through. */
export const lineColours = (program: Program): LineColours => coloured(program).ofLine;

function coloured(program: Program): Coloured {
  return ensure(known, program, () => {
    const frames = framesOf(program);
    const made = new Map<number, Set<number>>();
    for (const frame of frames.values()) {
      if (frame) ensure(made, frame.file, () => new Set<number>()).add(frame.line);
    }
    const ofLine = new Map([...made].map(([file, lines]) => [file, coloursOf(lines)]));
    const markOf = (frame: Frame | null): Mark => {
      const colour = frame && ofLine.get(frame.file)?.get(frame.line);
      return colour ? { colour } : WITHOUT_A_LINE;
    };
    return { ofLine, ofStack: new Map([...frames].map(([at, frame]) => [at, markOf(frame)])) };
  });
}

/** Per stack of an op, the line that made it. Inputs may also have a stack, but no such line. */
function framesOf(program: Program): Map<number, Frame | null> {
  const found = new Map<number, Frame | null>();
  for (const id of ops(program)) {
    ensure(found, program.stackIndex(id), () => bestFrame(program, program.stack(id)) ?? null);
  }
  return found;
}

/** Those of symbols, so that lines that follow one another differ. */
function coloursOf(lines: ReadonlySet<number>): Map<number, string> {
  const sorted = [...lines].sort((a, b) => a - b);
  return new Map(sorted.map((line, at) => [line, symbolColour(at)]));
}

function* ops(program: Program): Generator<NodeId> {
  for (const id of program.allNodes()) if (program.op(id) === "call_function") yield id;
}

export function lines(program: Program): Decoration {
  const { ofStack } = coloured(program);
  const marks = new Map<NodeId, Mark>();
  for (const id of ops(program)) {
    marks.set(id, ofStack.get(program.stackIndex(id)) ?? WITHOUT_A_LINE);
  }
  return {
    name: LINE,
    title: "source line",
    noun: "op",
    marks,
    legend: [{ text: "Each source line and its ops share one colour, here and in Source" }],
    colours: true,
    gather: (forest) => gather(forest, marks),
  };
}

/** A box has the colour that all of its ops share. */
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
