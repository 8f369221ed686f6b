/** The texts of a compilation, lines tied to ops: a graph as printed, and generated code. */

import { useMemo } from "preact/hooks";
import type { TokenLine } from "../../host";
import type { StageGraph, Stages } from "../../record.gen";
import { nodesOfKernels, nodesOfOp } from "../../stages";
import type { Store } from "../../store";
import { CodeLines } from "../source/CodeLines";

const plain = (text: string): TokenLine[] => text.split("\n").map((line) => [["", line]]);

interface GraphProps {
  store: Store;
  graph: StageGraph;
}

/** A press on an op selects the ops of the program that it comes from. */
export function GraphText({ store, graph }: GraphProps) {
  const lines = useMemo(() => plain(graph.text), [graph]);
  const opAt = useMemo(() => new Map([...graph.line].map((line, op) => [line - 1, op])), [graph]);
  const lit = store.lit.value.nodes;
  const nodesAt = (line: number): number[] => {
    const op = opAt.get(line);
    return op === undefined ? [] : nodesOfOp(graph, op);
  };
  const first = lit.size
    ? [...graph.line].find((_, op) => nodesOfOp(graph, op).some((each) => lit.has(each)))
    : undefined;
  return (
    <CodeLines
      lines={lines}
      label={`The ${graph.name} graph`}
      focus={first === undefined ? -1 : first - 1}
      cause={store.selection.value}
      counts={false}
      marks={(line) => {
        const nodes = nodesAt(line);
        return { lit: nodes.some((each) => lit.has(each)), ops: nodes.length };
      }}
      press={(line) => store.select({ kind: "nodes", nodes: nodesAt(line) }, "stages")}
    />
  );
}

interface CodeProps {
  store: Store;
  stages: Stages;
  /** Into `stages.codes`. */
  number: number;
  /** The kernel to open at; -1 for none. */
  kernel: number;
  lit: ReadonlySet<number>;
}

/** Opens at a kernel's call or definition; a press on either selects its ops. */
export function CodeText({ store, stages, number, kernel, lit }: CodeProps) {
  const lines = useMemo(() => plain(stages.codes[number]?.text ?? ""), [stages, number]);
  const kernelAt = useMemo(() => {
    const found = new Map<number, number>();
    stages.kernels.forEach((each, index) => {
      if (each.body === number) found.set(each.body_line - 1, index);
      if (each.code === number) found.set(each.call_line - 1, index);
    });
    return found;
  }, [stages, number]);
  const chosen = stages.kernels[kernel];
  const focus = chosen ? placeIn(chosen, number) - 1 : -1;
  return (
    <CodeLines
      lines={lines}
      label={stages.codes[number]?.title ?? "Generated code"}
      focus={focus}
      cause={kernel}
      counts={false}
      marks={(line) => {
        const at = kernelAt.get(line);
        return { lit: at !== undefined && lit.has(at), ops: at === undefined ? 0 : 1 };
      }}
      press={(line) => {
        const at = kernelAt.get(line);
        if (at === undefined) return;
        store.selectKernel(at, { kind: "nodes", nodes: nodesOfKernels(stages, [at]) });
      }}
    />
  );
}

/** The line of a kernel in a text, 1-based; 0 if it is not in it. */
function placeIn(kernel: Stages["kernels"][number], code: number): number {
  if (kernel.code === code) return kernel.call_line;
  return kernel.body === code ? kernel.body_line : 0;
}
