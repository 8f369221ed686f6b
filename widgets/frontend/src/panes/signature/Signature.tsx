/** The Signature pane: the inputs and outputs of the program, in the user's own names. */

import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { bytesText, capped, counted, grouped, words } from "../../format";
import { nodeId, type Program } from "../../program";
import type { InputEntry, OutputEntry } from "../../record.gen";
import type { Store } from "../../store";
import { Empty, RowButton } from "../parts/parts";
import { TypeText } from "../parts/TypeText";
import { Word } from "../parts/Word";

/** A longer table of held tensors is folded at first. */
const FEW = 8;

interface Props {
  store: Store;
  program: Program;
}

type Kind = InputEntry["kind"] | OutputEntry["kind"];

export function Signature({ store, program }: Props) {
  const { inputs, outputs } = program.record.signature;
  const [only, setOnly] = useState<Kind | null>(null);
  const kinds = kindsOf([...inputs, ...outputs]);
  const shown = only !== null && kinds.has(only) ? only : null;
  const ofKind = <T extends { kind: Kind }>(entries: T[]): T[] =>
    shown === null ? entries : entries.filter((each) => each.kind === shown);
  return (
    <section class="tx-panel" aria-label="Signature" data-testid="signature" data-pane>
      <div class="tx-scroll">
        {kinds.size === 0 && <Empty>A program has a signature once it is exported.</Empty>}
        {kinds.size > 2 && <Filter kinds={kinds} only={shown} choose={setOnly} />}
        <Inputs
          store={store}
          program={program}
          entries={ofKind(inputs).filter((each) => each.kind === "user_input")}
        />
        {[...kindsOf(inputs).keys()]
          .filter((kind) => kind !== "user_input" && (shown === null || kind === shown))
          .map((kind) => (
            <Held
              key={kind}
              store={store}
              program={program}
              kind={kind}
              asked={shown === kind}
              entries={inputs.filter((each) => each.kind === kind)}
            />
          ))}
        <Outputs store={store} program={program} entries={ofKind(outputs)} />
      </div>
    </section>
  );
}

function kindsOf(entries: { kind: Kind }[]): Map<Kind, number> {
  const kinds = new Map<Kind, number>();
  for (const { kind } of entries) kinds.set(kind, (kinds.get(kind) ?? 0) + 1);
  return kinds;
}

interface FilterProps {
  kinds: ReadonlyMap<Kind, number>;
  only: Kind | null;
  choose: (kind: Kind | null) => void;
}

function Filter({ kinds, only, choose }: FilterProps) {
  return (
    <fieldset class="tx-filter" aria-label="Show only">
      {[...kinds].map(([kind, count]) => (
        <button
          key={kind}
          type="button"
          class="tx-button"
          aria-pressed={only === kind}
          title={`Show only entries of kind ${words(kind)}`}
          onClick={() => choose(only === kind ? null : kind)}
        >
          {words(kind)} <span class="tx-lead">{grouped(count)}</span>
        </button>
      ))}
    </fieldset>
  );
}

interface EntriesProps<T> extends Props {
  entries: T[];
}

function Inputs({ store, program, entries }: EntriesProps<InputEntry>) {
  if (entries.length === 0) return null;
  return (
    <table class="tx-table">
      <caption>Inputs</caption>
      <thead>
        <tr>
          <th>Passed as</th>
          <th>Type</th>
        </tr>
      </thead>
      <tbody>
        {entries.map((entry) => (
          <Row key={entry.name} store={store} node={entry.node} name={entry.path || entry.name}>
            <td>
              <Constant constant={entry.constant} />
              {entry.constant === null && (
                <TypeText program={program} type={program.record.types[entry.type]} />
              )}
            </td>
          </Row>
        ))}
      </tbody>
    </table>
  );
}

function Constant({ constant }: { constant: string | null }) {
  if (constant === null) return null;
  return (
    <>
      <span class="tx-mono">{capped(constant, 200)}</span> <Word cls="tx-tag" word="fixed" />
    </>
  );
}

const PLURALS: { [kind: string]: string } = {
  parameter: "Parameters",
  buffer: "Buffers",
  constant_tensor: "Constant tensors",
  custom_object: "Custom objects",
  token: "Effect tokens",
};

interface HeldProps extends EntriesProps<InputEntry> {
  kind: Kind;
  /** Whether only this kind is shown. */
  asked: boolean;
}

/** The program's own tensors, folded to one line if there are many. */
function Held({ store, program, kind, asked, entries }: HeldProps) {
  const [open, setOpen] = useState(entries.length <= FEW);
  const bytes = entries.reduce((sum, each) => sum + each.bytes, 0);
  const isOpen = open || asked;
  return (
    <details open={isOpen} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>
        <b>{PLURALS[kind] ?? words(kind)}</b> {counted(entries.length, "tensor")},{" "}
        {bytesText(bytes)}
      </summary>
      {isOpen && (
        <table class="tx-table">
          <thead>
            <tr>
              <th>Lives at</th>
              <th>Type</th>
              <th class="tx-number">Size</th>
            </tr>
          </thead>
          <tbody>
            {entries.map((entry) => (
              <Row
                key={entry.name}
                store={store}
                node={entry.node}
                name={entry.target || entry.name}
                persistent={entry.persistent !== false}
              >
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

function Outputs({ store, program, entries }: EntriesProps<OutputEntry>) {
  if (entries.length === 0) return null;
  return (
    <table class="tx-table">
      <caption>Outputs</caption>
      <thead>
        <tr>
          <th>Returned as</th>
          <th>Type</th>
          <th>Kind</th>
        </tr>
      </thead>
      <tbody>
        {entries.map((entry, index) => (
          <Row key={index} store={store} node={entry.node} name={outputName(entry)}>
            <td>
              <Constant constant={entry.constant} />
              {entry.constant === null && (
                <TypeText program={program} type={program.record.types[entry.type]} />
              )}
            </td>
            <td>{words(entry.kind)}</td>
          </Row>
        ))}
      </tbody>
    </table>
  );
}

const outputName = (entry: OutputEntry): string =>
  entry.target || entry.path || entry.name || "the result";

interface RowProps {
  store: Store;
  /** The node in the main graph; -1 if there is none to select. */
  node: number;
  /** The value of an input or output, in the first cell. */
  name: string;
  /** Whether it is part of the state dict, if it is a buffer. */
  persistent?: boolean;
  /** The other cells. */
  children: ComponentChildren;
}

function Row({ store, node, name, persistent = true, children }: RowProps) {
  const id = nodeId(0, node);
  const text = capped(name, 200);
  const classes =
    node < 0 ? "" : store.lit.value.nodes.has(id) ? "tx-pressable tx-lit" : "tx-pressable";
  const press = () => store.select({ kind: "nodes", nodes: [id] }, "signature");
  return (
    <tr class={classes} onClick={node < 0 ? undefined : press}>
      <td class="tx-mono">
        {node < 0 ? text : <RowButton>{text}</RowButton>}
        {!persistent && (
          <span class="tx-tag" title="Not part of the state dict">
            not persistent
          </span>
        )}
      </td>
      {children}
    </tr>
  );
}
