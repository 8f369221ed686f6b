/** The Code pane: a graph as torch prints it, each line tied to its node. */

import type { ComponentChildren } from "preact";
import { useMemo, useState } from "preact/hooks";
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
  /** What chooses the graph: it stays, whatever comes of the text. */
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
      {printed && <Printed store={store} graph={graph} printed={printed} />}
    </>
  );
}

type Reply = Asks["code"]["reply"];

const plain = ({ lines }: Reply): string =>
  lines.map((line) => line.map(([, part]) => part).join("")).join("\n");

interface PrintedProps {
  store: Store;
  graph: number;
  printed: Reply;
}

function Printed({ store, graph, printed }: PrintedProps) {
  const { lines, nodes } = printed;
  const lineOf = useMemo(() => new Map(nodes.map((node, line) => [node, line])), [nodes]);
  const lit = store.lit.value.nodes;
  const nodeAt = (line: number): number => nodes[line] ?? -1;
  return (
    <CodeLines
      lines={lines}
      label="The graph as code"
      focus={store.origin.value === "code" ? -1 : firstLine(lit, graph, lineOf)}
      cause={store.selection.value}
      counts={false}
      marks={(line) => ({
        lit: nodeAt(line) >= 0 && lit.has(nodeId(graph, nodeAt(line))),
        ops: nodeAt(line) >= 0 ? 1 : 0,
      })}
      press={(line) =>
        store.select({ kind: "nodes", nodes: [nodeId(graph, nodeAt(line))] }, "code")
      }
    />
  );
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
