/** Decomposes a program: the table, and the ops that replaced others. */

import { useRef, useState } from "preact/hooks";
import { useDomId } from "../../dom_id";
import { capped, counted } from "../../format";
import type { Program } from "../../program";
import type { LevelRow, ReplacedOp } from "../../record.gen";
import type { Store } from "../../store";
import { Expected, exportTime } from "../parts/Expected";
import { More } from "../parts/parts";
import { bringToTop } from "../parts/useFresh";
import { PRESETS, TableEditor } from "./TableEditor";

interface Props {
  store: Store;
  program: Program;
}

const FEW = 12;

export function Decompose({ store, program }: Props) {
  const { level } = program.record;
  return (
    <section aria-label="Decompositions" data-testid="decompose">
      <h3 class="tx-pane-title">Decompositions</h3>
      {level && <Level store={store} program={program} level={level} />}
      {store.host.live && <Form store={store} program={program} />}
    </section>
  );
}

function Form({ store, program }: Props) {
  const [table, setTable] = useState<string>("core");
  const [choosing, setChoosing] = useState(false);
  const presets = useDomId();
  const busy = store.busy.value;
  const form = useRef<HTMLFormElement>(null);
  return (
    <>
      <form
        ref={form}
        class="tx-filters"
        onSubmit={(event) => {
          event.preventDefault();
          if (!busy) void store.decompose(table);
        }}
      >
        <input
          type="text"
          class="tx-input tx-table-text"
          list={presets}
          aria-label="Table: core, none, core -linear (keeps linear), or only t transpose"
          title="core, none, core -linear (keeps linear), or only t transpose"
          value={table}
          onInput={(event) => setTable(event.currentTarget.value)}
        />
        <datalist id={presets}>
          {PRESETS.map(([value, name]) => (
            <option key={value} value={value}>
              {name}
            </option>
          ))}
        </datalist>
        <button type="submit" class="tx-button" disabled={busy || table.trim() === ""}>
          Decompose
        </button>
        <button
          type="button"
          class="tx-more"
          aria-expanded={choosing}
          onClick={() => setChoosing(!choosing)}
        >
          {choosing ? "hide the ops" : "choose ops"}
        </button>
        <Expected store={store} action={`Decomposing: ${table}`}>
          traces it again: {exportTime(program)}
        </Expected>
      </form>
      {choosing && (
        <TableEditor
          store={store}
          program={program}
          table={table}
          change={setTable}
          ready={() => form.current && bringToTop(form.current)}
        />
      )}
    </>
  );
}

function Level({ store, program, level }: Props & { level: LevelRow }) {
  const matched = level.origins.filter((origin) => origin >= 0).length;
  return (
    <>
      <p class="tx-lead">
        By <code>{capped(level.table, 200)}</code>:{" "}
        {counted(matched - level.fallback.length, "node")} matched by provenance,{" "}
        {level.fallback.length} by structure, {level.untied.length} unmatched.
      </p>
      <table class="tx-table">
        <thead>
          <tr>
            <th>Before</th>
            <th>After</th>
          </tr>
        </thead>
        <tbody>
          <More items={level.replaced} few={FEW}>
            {(op) => <Replaced key={op.op} store={store} program={program} op={op} />}
          </More>
        </tbody>
      </table>
      {level.outside.length > 0 && (
        <details>
          <summary>{counted(level.outside.length, "kind")} of op outside Core ATen</summary>
          <ul>
            {level.outside.map((name) => (
              <li key={name} class="tx-mono">
                {capped(name, 120)}
              </li>
            ))}
          </ul>
        </details>
      )}
    </>
  );
}

function Replaced({ store, program, op }: Props & { op: ReplacedOp }) {
  return (
    <tr>
      <td class="tx-mono">
        {capped(op.op, 120)} ×{op.count}
        {op.function && (
          <div>
            <button
              type="button"
              class="tx-link"
              title={capped(program.record.files[op.file]?.path ?? "")}
              onClick={() => store.goTo(op.file, op.line)}
            >
              {capped(op.function.split(".").at(-1) ?? op.function, 80)}
            </button>
          </div>
        )}
      </td>
      <td class="tx-mono">
        {op.into.map((each) => (
          <div key={each}>{capped(each, 120)}</div>
        ))}
      </td>
    </tr>
  );
}
