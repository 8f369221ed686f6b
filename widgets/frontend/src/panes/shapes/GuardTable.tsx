/** The guards of the trace: each condition, its effect, and the line that added it. */

import { useState } from "preact/hooks";
import { capped, counted } from "../../format";
import type { Program } from "../../program";
import type { Guard } from "../../record.gen";
import type { Lit } from "../../selection";
import type { Store } from "../../store";
import { bestFrame } from "../../user_frames";
import { ConditionText } from "../parts/ConditionText";
import { LineLink } from "../parts/LineLink";
import { Empty, More, RowButton } from "../parts/parts";
import { Word } from "../parts/Word";
import { chosenGuards, EVERY_GUARD, type GuardFilter, guardTopics } from "./guard_filter";

const FEW = 60;
/** Fewer than these are looked through faster than filtered. */
const FEW_TO_FILTER = 6;

interface Props {
  store: Store;
  program: Program;
}

export function GuardTable({ store, program }: Props) {
  const [filter, setFilter] = useState<GuardFilter>(EVERY_GUARD);
  const { guards } = program.record;
  const implied = guards.filter((guard) => guard.effect === "implied").length;
  const chosen = chosenGuards(program, filter);
  return (
    <section class="tx-guards" aria-label="Guards" data-testid="guards">
      <h3 class="tx-pane-title">What the code relies on</h3>
      <p class="tx-lead">
        A guard is a condition on sizes that tracing checked, such as the test of an <code>if</code>
        . The program is correct only if all guards hold.
      </p>
      <div class="tx-filters">
        {guards.length > FEW_TO_FILTER && (
          <Filters program={program} filter={filter} change={setFilter} />
        )}
        {implied > 0 && (
          <label data-testid="guards-implied">
            <input
              type="checkbox"
              checked={filter.implied}
              onChange={() => setFilter({ ...filter, implied: !filter.implied })}
            />{" "}
            Show {implied} implied by others
          </label>
        )}
      </div>
      {chosen.length === 0 ? (
        <Empty>{noneText(guards.length, implied)}</Empty>
      ) : (
        <table class="tx-table tx-guard-table">
          <thead>
            <tr>
              <th>Condition</th>
              <th>Effect</th>
              <th>Asked at</th>
            </tr>
          </thead>
          <tbody>
            <More items={chosen} few={FEW}>
              {([number, guard]) => (
                <GuardRow key={number} store={store} program={program} guard={guard} />
              )}
            </More>
          </tbody>
        </table>
      )}
    </section>
  );
}

function noneText(guards: number, implied: number): string {
  if (guards === implied) return "Every guard is implied by the ranges and by other guards.";
  return `No guard matches. ${counted(guards, "guard")} in all, ${implied} of which are implied.`;
}

interface FiltersProps {
  program: Program;
  filter: GuardFilter;
  change: (filter: GuardFilter) => void;
}

function Filters({ program, filter, change }: FiltersProps) {
  const { symbols, signature, files } = program.record;
  const topics = guardTopics(program);
  return (
    <>
      <input
        type="search"
        class="tx-input"
        placeholder="condition, file or op"
        aria-label="Filter guards by condition, file or op"
        value={filter.text}
        onInput={(event) => change({ ...filter, text: event.currentTarget.value })}
      />
      <select
        class="tx-input"
        aria-label="Filter guards by size, input or file"
        value={filter.about}
        onChange={(event) => change({ ...filter, about: event.currentTarget.value })}
      >
        <option value="">all sizes and files</option>
        <Choices
          title="Inputs"
          kind="input"
          choices={topics.inputs.map((entry) => [entry, signature.inputs[entry]?.path ?? "?"])}
        />
        <Choices
          title="Dynamic sizes"
          kind="symbol"
          choices={symbols.map((symbol, number) => [number, symbol.name])}
        />
        <Choices
          title="Files"
          kind="file"
          choices={topics.files.map((file) => [file, files[file]?.name ?? "?"])}
        />
      </select>
    </>
  );
}

interface ChoicesProps {
  title: string;
  kind: "input" | "symbol" | "file";
  choices: [number: number, name: string][];
}

function Choices({ title, kind, choices }: ChoicesProps) {
  if (choices.length === 0) return null;
  return (
    <optgroup label={title}>
      {choices.map(([number, name]) => (
        <option key={number} value={`${kind} ${number}`}>
          {capped(name, 60)}
        </option>
      ))}
    </optgroup>
  );
}

const EFFECTS: { [effect in Guard["effect"]]: string } = {
  narrows: "narrows a range",
  fixes: "fixes a size",
  equates: "makes two sizes equal",
  kept: "checked at run time",
  implied: "implied by others",
};

function GuardRow({ store, program, guard }: Props & { guard: Guard }) {
  const frame = bestFrame(program, program.stackAt(guard.stack));
  const classes = [
    frame ? "tx-pressable" : "",
    concerns(program, guard, store.lit.value) ? "tx-lit" : "",
  ];
  const asserted = guard.kind === "runtime_assert";
  const assumed = guard.asked_by === "dynamic_shapes";
  const condition = <ConditionText program={program} text={guard.text} symbols={guard.symbols} />;
  return (
    <tr
      class={classes.join(" ").trim()}
      onClick={frame ? () => store.goTo(frame.file, frame.line) : undefined}
    >
      <td title={capped(`torch: ${guard.torch_text}`)}>
        <span class="tx-mono">{frame ? <RowButton>{condition}</RowButton> : condition}</span>
        {assumed && (
          <span
            class="tx-tag"
            title="The shapes require it, and the program asserts it on each call"
          >
            assumption
          </span>
        )}
        {guard.count > 1 && (
          <span class="tx-lead" title={`Checked ${guard.count} times`}>
            {" "}
            ×{guard.count}
          </span>
        )}
      </td>
      <td>
        <div class="tx-effect-line">
          <Word
            cls={`tx-effect tx-effect-${guard.effect}`}
            word={EFFECTS[asserted ? "kept" : guard.effect]}
          />
          {guard.result && (
            <span class="tx-mono">
              {" "}
              <ConditionText program={program} text={guard.result} symbols={guard.symbols} />
            </span>
          )}
        </div>
      </td>
      <td class="tx-asked">
        {frame && <LineLink store={store} program={program} stack={guard.stack} />}
        {!frame && (assumed ? "the shapes" : "—")}
        {guard.asked_by && !assumed && <div class="tx-lead">{capped(guard.asked_by, 80)}</div>}
      </td>
    </tr>
  );
}

/** Whether a guard is about what is selected: its line, or a size of it. */
function concerns(program: Program, guard: Guard, { lines, symbols }: Lit): boolean {
  if (guard.symbols.some((symbol) => symbols.has(symbol))) return true;
  return program.stackAt(guard.stack).some(({ file, line }) => lines.get(file)?.has(line));
}
