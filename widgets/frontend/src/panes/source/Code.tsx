/** The Code pane: a graph as torch prints it, each line tied to its node. */

import type { ComponentChildren } from "preact";
import { useMemo, useState } from "preact/hooks";
import { counted } from "../../format";
import type { Asks } from "../../host";
import { graphOf, indexOf, nodeId, type Program } from "../../program";
import type { Store } from "../../store";
import { CopyButton } from "../parts/CopyButton";
import { Empty, Waiting } from "../parts/parts";
import { useAnswer } from "../parts/useAnswer";
import { CodeLines } from "./CodeLines";

interface Props {
  store: Store;
  program: Program;
}

export function Code({ store, program }: Props) {
  const { graphs } = program.record;
  const [chosen, choose] = useState<{ graph: number; over: unknown }>({ graph: 0, over: null });
  const graph = shownGraph(store, graphs.length, chosen);
  return (
    <section class="tx-panel" aria-label="Code" data-pane>
      {graph < 0 ? (
        <Empty>There is no graph to print.</Empty>
      ) : (
        <GraphText store={store} program={program} graph={graph}>
          <select
            aria-label="Graph"
            value={String(graph)}
            onChange={(event) =>
              choose({ graph: Number(event.currentTarget.value), over: store.selection.peek() })
            }
          >
            {graphs.map((each, index) => (
              <option key={index} value={index}>
                {graphName(program, index, each.title)}
              </option>
            ))}
          </select>
        </GraphText>
      )}
    </section>
  );
}

/** The graph of what was selected since one was chosen by hand; else that one. */
function shownGraph(store: Store, count: number, chosen: { graph: number; over: unknown }): number {
  const [first] = store.lit.value.nodes;
  const follows = first !== undefined && store.selection.value !== chosen.over;
  return Math.min(follows ? graphOf(first) : chosen.graph, count - 1);
}

/** `true_graph_0 (true_fn of cond)`. */
function graphName(program: Program, graph: number, title: string): string {
  const parent = program.parentOf(graph);
  return parent ? `${title} (${parent.argument} of ${program.name(parent.node)})` : title;
}

interface GraphTextProps extends Props {
  graph: number;
  /** The choice of the graph, which stays even if the text fails. */
  children: ComponentChildren;
}

function GraphText({ store, program, graph, children }: GraphTextProps) {
  const answer = useAnswer(() => store.code(graph), [store, program, graph]);
  const printed = answer.kind === "there" ? answer.value : null;
  return (
    <>
      <div class="tx-code-bar">
        {children}
        {printed && <CopyButton text={() => plain(printed)} />}
      </div>
      {answer.kind === "waiting" && <Waiting what="the graph" slow={answer.slow} />}
      {answer.kind === "refused" && <Empty>{answer.why}</Empty>}
      {printed && <Printed store={store} program={program} graph={graph} printed={printed} />}
    </>
  );
}

type Reply = Asks["code"]["reply"];

const plain = ({ lines }: Reply): string =>
  lines.map((line) => line.map(([, part]) => part).join("")).join("\n");

interface PrintedProps {
  store: Store;
  program: Program;
  graph: number;
  printed: Reply;
}

function Printed({ store, program, graph, printed }: PrintedProps) {
  const { lines, nodes } = printed;
  const [unfolded, unfold] = useState(false);
  const lit = store.lit.value.nodes;
  const held = useMemo(() => heldLines(program, graph, nodes), [program, graph, nodes]);
  const isHeldLit = [...lit].some((id) => program.input(id)?.kind !== "user_input");
  const isFolded = held !== null && !unfolded && !isHeldLit;
  const shown = useMemo(
    () => (held && isFolded ? withoutHeld(lines, held) : { lines, places: null }),
    [lines, held, isFolded],
  );
  const placeOf = (index: number): number => shown.places?.[index] ?? index;
  const lineOf = useMemo(
    () => new Map(shown.lines.map((_, index) => [nodes[placeOf(index)] ?? -1, index])),
    [nodes, shown],
  );
  const isFold = (index: number): boolean => held !== null && isFolded && index === held.first;
  const nodeAt = (index: number): number => (isFold(index) ? -1 : (nodes[placeOf(index)] ?? -1));
  return (
    <CodeLines
      lines={shown.lines}
      numberOf={(index) => placeOf(index) + 1}
      label="The graph as code"
      focus={store.origin.value === "code" ? -1 : firstLine(lit, graph, lineOf)}
      cause={store.selection.value}
      counts={false}
      marks={(line) => ({
        lit: nodeAt(line) >= 0 && lit.has(nodeId(graph, nodeAt(line))),
        ops: nodeAt(line) >= 0 || isFold(line) ? 1 : 0,
      })}
      press={(line) => {
        if (isFold(line)) unfold(true);
        else store.select({ kind: "nodes", nodes: [nodeId(graph, nodeAt(line))] }, "code");
      }}
    />
  );
}

/** Fewer parameters than this are shown, each in its line. */
const FEWEST_HELD = 4;

/** Consecutive lines of arguments for the program's own tensors; null for few. */
function heldLines(
  program: Program,
  graph: number,
  nodes: readonly number[],
): { first: number; count: number } | null {
  const isHeld = (node: number | undefined): boolean => {
    const entry = node === undefined || node < 0 ? undefined : program.input(nodeId(graph, node));
    return entry !== undefined && entry.kind !== "user_input";
  };
  const first = nodes.findIndex(isHeld);
  if (first < 0 || graph !== 0) return null;
  const end = nodes.findIndex((node, line) => line > first && !isHeld(node));
  const count = (end < 0 ? nodes.length : end) - first;
  return count < FEWEST_HELD ? null : { first, count };
}

/** The lines with one in place of those, and the position of each among all. */
function withoutHeld(
  lines: Reply["lines"],
  { first, count }: { first: number; count: number },
): { lines: Reply["lines"]; places: number[] } {
  const told = `    … ${counted(count, "parameter, buffer or constant", "parameters, buffers and constants")}`;
  const places = lines.map((_, index) => index);
  return {
    lines: [...lines.slice(0, first), [["c1", told]], ...lines.slice(first + count)],
    places: [...places.slice(0, first + 1), ...places.slice(first + count)],
  };
}

function firstLine(
  lit: ReadonlySet<number>,
  graph: number,
  lineOf: ReadonlyMap<number, number>,
): number {
  for (const id of lit) {
    const line = graphOf(id) === graph ? lineOf.get(indexOf(id)) : undefined;
    if (line !== undefined) return line;
  }
  return -1;
}
