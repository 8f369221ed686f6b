/** The Inspector without a selection: the program as a whole. */

import { useMemo } from "preact/hooks";
import { bytesText, capped, counted } from "../../format";
import { nodeId, type Program } from "../../program";
import type { InputEntry, OutputEntry } from "../../record.gen";
import type { Store } from "../../store";
import { Decompose } from "../decompose/Decompose";
import { Fact, More } from "../parts/parts";
import { TypeText } from "../parts/TypeText";
import { FirstVisit } from "./FirstVisit";
import { Histogram } from "./Histogram";

const FEW = 8;

interface OverviewProps {
  store: Store;
  program: Program;
}

export function Overview({ store, program }: OverviewProps) {
  const { record } = program;
  const nodes = useMemo(
    () => [...program.allNodes()].filter((id) => program.target(id)),
    [program],
  );
  const inputs = record.signature.inputs.filter((each) => each.kind === "user_input");
  const outputs = record.signature.outputs.filter((each) => each.kind === "user_output");
  return (
    <div class="tx-scroll" data-testid="inspector">
      <div class="tx-overview-head">
        <FirstVisit store={store} program={program} />
        <DecomposeButton store={store} program={program} />
      </div>
      {store.decomposing.value && <Decompose store={store} program={program} />}
      <dl class="tx-facts">
        {inputs.length > 0 && (
          <Fact name="Takes">
            <Entries store={store} program={program} entries={inputs} />
          </Fact>
        )}
        {outputs.length > 0 && (
          <Fact name="Returns">
            <Entries store={store} program={program} entries={outputs} />
          </Fact>
        )}
        <Held program={program} />
        {record.shapes && (
          <Fact name="Dynamic">
            <span class="tx-mono">{capped(record.shapes, 2000)}</span>
          </Fact>
        )}
        {record.timing && <Fact name="Took">{record.timing.capture.toFixed(2)} s to export</Fact>}
        <Fact name="torch">{record.torch_version}</Fact>
      </dl>
      <Histogram store={store} program={program} nodes={nodes} />
    </div>
  );
}

/** Opens what was made of which op, if the program is decomposed, or what decomposes it. */
function DecomposeButton({ store, program }: OverviewProps) {
  const open = store.decomposing.value;
  const { level } = program.record;
  if (!store.host.live && !level) return null;
  return (
    <button
      type="button"
      class="tx-button"
      aria-expanded={open}
      onClick={() => {
        store.decomposing.value = !open;
      }}
    >
      {level ? "Decompositions" : "Decompose…"}
    </button>
  );
}

interface EntriesProps extends OverviewProps {
  entries: (InputEntry | OutputEntry)[];
}

function Entries({ store, program, entries }: EntriesProps) {
  return (
    <More items={entries} few={FEW}>
      {(entry, index) => (
        <div key={index}>
          <button
            type="button"
            class="tx-link"
            disabled={entry.node < 0}
            onClick={() =>
              store.select({ kind: "nodes", nodes: [nodeId(0, entry.node)] }, "inspector")
            }
          >
            {capped(entry.path || entry.name || "result", 120)}
          </button>{" "}
          {entry.constant === null ? (
            <TypeText program={program} type={program.record.types[entry.type]} />
          ) : (
            <span class="tx-mono">{capped(entry.constant, 120)}</span>
          )}
        </div>
      )}
    </More>
  );
}

/** `12 parameters, 3 buffers: 1.2 MB`. */
function Held({ program }: { program: Program }) {
  const held = program.record.signature.inputs.filter((each) => each.kind !== "user_input");
  if (held.length === 0) return null;
  const kinds = new Map<string, number>();
  for (const { kind } of held) kinds.set(kind, (kinds.get(kind) ?? 0) + 1);
  const parts = [...kinds].map(([kind, count]) => counted(count, kind.replaceAll("_", " ")));
  const bytes = held.reduce((sum, each) => sum + each.bytes, 0);
  return (
    <Fact name="Holds">
      {parts.join(", ")}: {bytesText(bytes)}
    </Fact>
  );
}
