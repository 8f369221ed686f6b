/** The Inspector pane: facts about the selection, or about the program if nothing is selected. */

import { bytesText, capped, counted, grouped, rangeText } from "../../format";
import type { NodeId, Program } from "../../program";
import { descendants } from "../../selection";
import type { Store } from "../../store";
import { symbolColour } from "../../symbol_colour";
import { Frames } from "../parts/Frames";
import { Dotted, Fact, More, NodeLink } from "../parts/parts";
import { TypeText } from "../parts/TypeText";
import { Breadcrumb } from "./Breadcrumb";
import { Decorated } from "./Decorated";
import { Histogram } from "./Histogram";
import { NodeFacts } from "./NodeFacts";
import { Overview } from "./Overview";
import { RemovedFacts } from "./RemovedFacts";

interface Props {
  store: Store;
  program: Program;
}

export function Inspector({ store, program }: Props) {
  return (
    <section class="tx-panel" aria-label="Inspector" data-pane>
      <Content store={store} program={program} />
    </section>
  );
}

function Content({ store, program }: Props) {
  const selection = store.selection.value;
  const nodes = [...store.lit.value.nodes];
  const [only] = nodes;
  switch (selection.kind) {
    case "none":
      return <Overview store={store} program={program} />;
    case "scope":
      return <ScopeFacts store={store} program={program} scope={selection.scope} nodes={nodes} />;
    case "symbol":
      return (
        <SymbolFacts store={store} program={program} symbol={selection.symbol} nodes={nodes} />
      );
    case "line":
      return <LineFacts store={store} program={program} {...selection} nodes={nodes} />;
    case "removed":
      return <RemovedFacts store={store} node={selection.node} />;
    case "nodes":
      if (nodes.length === 1 && only !== undefined) {
        return <NodeFacts store={store} program={program} node={only} />;
      }
      return (
        <div class="tx-scroll" data-testid="inspector">
          <h3 class="tx-name">{counted(nodes.length, "op")}</h3>
          <dl class="tx-facts">
            <Reads program={program} nodes={nodes} />
            <Decorated store={store} nodes={nodes} />
          </dl>
          <NodeList store={store} program={program} nodes={nodes} />
          <Histogram store={store} program={program} nodes={nodes} />
        </div>
      );
  }
}

interface ManyProps extends Props {
  nodes: NodeId[];
}

function ScopeFacts({ store, program, scope, nodes }: ManyProps & { scope: number }) {
  const entry = program.record.scopes[scope];
  const inside = descendants(program, scope).size - 1;
  return (
    <div class="tx-scroll" data-testid="inspector">
      <h3 class="tx-name">
        <Dotted name={entry?.path || entry?.name || ""} />
      </h3>
      <p class="tx-lead tx-mono">
        <Dotted name={entry?.cls ?? ""} />
      </p>
      <dl class="tx-facts">
        <Fact name="Ops">{grouped(nodes.length)}</Fact>
        {inside > 0 && <Fact name="Modules inside">{grouped(inside)}</Fact>}
        <Reads program={program} nodes={nodes} />
        <Decorated store={store} nodes={nodes} />
        {entry && entry.parent >= 0 && (
          <Fact name="Inside">
            <Breadcrumb store={store} program={program} scope={entry.parent} />
          </Fact>
        )}
      </dl>
      <Histogram store={store} program={program} nodes={nodes} />
    </div>
  );
}

function SymbolFacts({ store, program, symbol, nodes }: ManyProps & { symbol: number }) {
  const entry = program.record.symbols[symbol];
  if (!entry) return null;
  return (
    <div class="tx-scroll" data-testid="inspector">
      <h3 class="tx-name" style={{ color: symbolColour(symbol) }}>
        {capped(entry.name, 300)}
      </h3>
      <p class="tx-lead">
        {entry.kind === "backed" ? "a size of the inputs" : "a data-dependent size"}, on{" "}
        {counted(nodes.length, "value")}
      </p>
      <dl class="tx-facts">
        <Fact name="Range">
          <span class="tx-mono">{rangeText(entry)}</span>
        </Fact>
        {entry.example !== null && <Fact name="Example">{entry.example}</Fact>}
        <Fact name="torch calls it">
          <span class="tx-mono">{entry.torch_name}</span>
        </Fact>
        {entry.stack >= 0 && (
          <Fact name="Made at">
            <Frames store={store} program={program} frames={program.stackAt(entry.stack)} />
          </Fact>
        )}
      </dl>
      <NodeList store={store} program={program} nodes={nodes} />
      <Histogram store={store} program={program} nodes={nodes} />
    </div>
  );
}

interface LineProps extends ManyProps {
  file: number;
  line: number;
}

function LineFacts({ store, program, file, line, nodes }: LineProps) {
  const name = program.record.files[file]?.name ?? "";
  return (
    <div class="tx-scroll" data-testid="inspector">
      <h3 class="tx-name">
        {capped(name.split("/").at(-1) ?? name, 200)}:{line}
      </h3>
      <p class="tx-lead" title={capped(name)}>
        made {counted(nodes.length, "op")}
      </p>
      <dl class="tx-facts">
        <Reads program={program} nodes={nodes} />
      </dl>
      <NodeList store={store} program={program} nodes={nodes} />
      <Histogram store={store} program={program} nodes={nodes} />
    </div>
  );
}

/** The parameters, buffers and constants that some ops read. */
function Reads({ program, nodes }: { program: Program; nodes: readonly NodeId[] }) {
  const held = program.heldBy(nodes);
  if (held.length === 0) return null;
  const bytes = held.reduce((sum, each) => sum + each.bytes, 0);
  return (
    <Fact name="Reads">
      {counted(held.length, "held tensor")}, {bytesText(bytes)}
    </Fact>
  );
}

const FEW_NODES = 12;

function NodeList({ store, program, nodes }: ManyProps) {
  return (
    <div class="tx-node-list">
      <More items={nodes} few={FEW_NODES}>
        {(node) => (
          <div key={node} class="tx-node-line">
            <NodeLink store={store} program={program} node={node} origin="inspector" />
            <TypeText program={program} type={program.type(node)} />
          </div>
        )}
      </More>
    </div>
  );
}
