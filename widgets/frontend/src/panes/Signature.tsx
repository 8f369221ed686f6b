/** The Signature pane: what goes into the program and what comes out, in the user's own names. */

import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { bytesText, capped, counted, words } from "../format";
import { nodeId, type Program } from "../program";
import type { InputEntry, OutputEntry } from "../record.gen";
import type { Store } from "../store";
import { Empty, pressable, TypeText } from "./parts";

const FEW = 12;

export function Signature({ store, program }: { store: Store; program: Program }) {
  const { inputs, outputs } = program.record.signature;
  if (inputs.length + outputs.length === 0) {
    return <Empty>A program has a signature once it is exported.</Empty>;
  }
  const user = inputs.filter((each) => each.kind === "user_input");
  const held = inputs.filter((each) => each.kind !== "user_input");
  return (
    <section class="tx-scroll" aria-label="Signature" data-testid="signature">
      <InputTable title="Inputs" store={store} program={program} entries={user} />
      <HeldTable store={store} program={program} entries={held} />
      <table class="tx-table" style={{ marginTop: "16px" }}>
        <caption>Outputs</caption>
        <thead>
          <tr>
            <th>Name</th>
            <th>Kind</th>
            <th>Type</th>
          </tr>
        </thead>
        <tbody>
          {outputs.map((entry, index) => (
            <Row key={index} store={store} node={entry.node}>
              <td class="tx-mono">{capped(outputName(entry, index), 200)}</td>
              <td>{words(entry.kind)}</td>
              <td>
                {entry.constant !== null ? (
                  <span class="tx-mono">{capped(entry.constant, 200)}</span>
                ) : (
                  <TypeText program={program} type={program.record.types[entry.type]} />
                )}
              </td>
            </Row>
          ))}
        </tbody>
      </table>
    </section>
  );
}

const outputName = (entry: OutputEntry, index: number): string =>
  entry.target || entry.path || `output ${index}`;

interface TableProps {
  store: Store;
  program: Program;
  entries: InputEntry[];
}

function InputTable({ title, store, program, entries }: TableProps & { title: string }) {
  if (entries.length === 0) return <p class="tx-lead">The call takes no inputs.</p>;
  return (
    <table class="tx-table">
      <caption>{title}</caption>
      <thead>
        <tr>
          <th>Name</th>
          <th>Type</th>
        </tr>
      </thead>
      <tbody>
        {entries.map((entry) => (
          <Row key={entry.name} store={store} node={entry.node}>
            <td class="tx-mono">{capped(entry.path || entry.name, 200)}</td>
            <td>
              {entry.constant !== null ? (
                <>
                  <span class="tx-mono">{capped(entry.constant, 200)}</span>{" "}
                  <span class="tx-tag">fixed</span>
                </>
              ) : (
                <TypeText program={program} type={program.record.types[entry.type]} />
              )}
            </td>
          </Row>
        ))}
      </tbody>
    </table>
  );
}

/** Parameters, buffers and constants: folded to one line where there are many. */
function HeldTable({ store, program, entries }: TableProps) {
  const [open, setOpen] = useState(entries.length <= FEW);
  if (entries.length === 0) return null;
  const bytes = entries.reduce((sum, each) => sum + each.bytes, 0);
  return (
    <details
      open={open}
      onToggle={(event) => setOpen(event.currentTarget.open)}
      style={{ marginTop: "16px" }}
    >
      <summary>
        {counted(entries.length, "tensor")} held by the program, {bytesText(bytes)}
      </summary>
      {open && (
        <table class="tx-table">
          <thead>
            <tr>
              <th>Target</th>
              <th>Kind</th>
              <th>Type</th>
              <th class="tx-number">Size</th>
            </tr>
          </thead>
          <tbody>
            {entries.map((entry) => (
              <Row key={entry.name} store={store} node={entry.node}>
                <td class="tx-mono">{capped(entry.target || entry.name, 200)}</td>
                <td>
                  {words(entry.kind)}
                  {entry.persistent === false && <span class="tx-tag">not saved</span>}
                </td>
                <td>
                  <TypeText program={program} type={program.record.types[entry.type]} />
                </td>
                <td class="tx-number">{bytesText(entry.bytes)}</td>
              </Row>
            ))}
          </tbody>
        </table>
      )}
    </details>
  );
}

interface RowProps {
  store: Store;
  node: number;
  children: ComponentChildren;
}

function Row({ store, node, children }: RowProps) {
  if (node < 0) return <tr>{children}</tr>;
  const id = nodeId(0, node);
  const lit = store.lit.value.nodes.has(id);
  return (
    <tr
      class={lit ? "tx-lit" : ""}
      {...pressable(() => store.select({ kind: "nodes", nodes: [id] }, "signature"))}
    >
      {children}
    </tr>
  );
}
