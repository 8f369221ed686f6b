/** The Code pane: a graph printed as Python, each line tied to its node. */

import { useMemo, useState } from "preact/hooks";
import { nodeId, type Program } from "../program";
import type { Store } from "../store";
import { CodeLines } from "./CodeLines";
import { Empty } from "./parts";
import { useAnswer } from "./useAnswer";

export function Code({ store, program }: { store: Store; program: Program }) {
  const [graph, setGraph] = useState(0);
  const [copied, setCopied] = useState(false);
  const shown = Math.min(graph, program.record.graphs.length - 1);
  const answer = useAnswer(() => store.code(shown), [store, program, shown]);
  const lineOf = useMemo(() => {
    const nodes = answer.kind === "there" ? answer.value.nodes : [];
    return new Map(nodes.map((node, line) => [node, line]));
  }, [answer]);
  if (program.record.graphs.length === 0) return <Empty>There is no graph to print.</Empty>;
  if (answer.kind === "waiting") return <Empty>Printing the graph…</Empty>;
  if (answer.kind === "refused") return <Empty>{answer.why}</Empty>;
  const { lines, nodes } = answer.value;
  const lit = store.lit.value.nodes;
  const copy = async (): Promise<void> => {
    const text = lines.map((line) => line.map(([, part]) => part).join("")).join("\n");
    await navigator.clipboard.writeText(text);
    setCopied(true);
    setTimeout(() => setCopied(false), 1500);
  };
  const first = [...lit].find((id) => lineOf.has(id - nodeId(shown, 0)));
  const focus = first === undefined ? -1 : (lineOf.get(first - nodeId(shown, 0)) ?? -1);
  return (
    <section class="tx-panel" aria-label="Code">
      <div class="tx-code-bar">
        {program.record.graphs.length > 1 && (
          <select
            aria-label="Graph"
            value={shown}
            onChange={(event) => setGraph(Number(event.currentTarget.value))}
          >
            {program.record.graphs.map((each, index) => (
              <option key={index} value={index}>
                {each.title}
              </option>
            ))}
          </select>
        )}
        <button type="button" class="tx-button" onClick={() => void copy()}>
          {copied ? "Copied" : "Copy"}
        </button>
      </div>
      <CodeLines
        lines={lines}
        label="The graph as code"
        focus={store.origin.value === "code" ? -1 : focus}
        marks={(index) => {
          const node = nodes[index] ?? -1;
          return { lit: node >= 0 && lit.has(nodeId(shown, node)), ops: node >= 0 ? 1 : 0 };
        }}
        press={(index) => {
          const node = nodes[index] ?? -1;
          if (node >= 0) store.select({ kind: "nodes", nodes: [nodeId(shown, node)] }, "code");
        }}
      />
    </section>
  );
}
