/** What tracing relied on: each condition, what came of it, and the line that asked. */

import { useState } from "preact/hooks";
import { capped, counted } from "../format";
import type { Program } from "../program";
import type { Guard } from "../record.gen";
import type { Lit, Store } from "../store";
import { ConditionText } from "./ConditionText";
import { bestFrame } from "./calls";
import { chosenGuards, EVERY_GUARD, type GuardFilter } from "./guard_filter";
import { LineLink } from "./LineLink";
import { Empty, More, pressable } from "./parts";

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
    <section aria-label="Guards" data-testid="guards">
      <h3 class="tx-pane-title">What the code relied on</h3>
      {guards.length > FEW_TO_FILTER && (
        <Filters program={program} filter={filter} change={setFilter} implied={implied} />
      )}
      {chosen.length === 0 ? (
        <Empty>
          No guard matches. {counted(guards.length, "guard")} in all, {implied} of which follow from
          others.
        </Empty>
      ) : (
        <table class="tx-table">
          <thead>
            <tr>
              <th>Condition</th>
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

interface FiltersProps {
  program: Program;
  filter: GuardFilter;
  change: (filter: GuardFilter) => void;
  implied: number;
}

function Filters({ program, filter, change, implied }: FiltersProps) {
  const { symbols, signature, guards } = program.record;
  const inputs = [...new Set(guards.flatMap((guard) => guard.inputs))].sort((a, b) => a - b);
  return (
    <div class="tx-filters">
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
        aria-label="Filter guards by size or input"
        value={filter.about}
        onChange={(event) => change({ ...filter, about: event.currentTarget.value })}
      >
        <option value="">all sizes</option>
        {symbols.map((symbol, index) => (
          <option key={symbol.torch_name} value={`symbol ${index}`}>
            {capped(symbol.name, 60)}
          </option>
        ))}
        {inputs.map((entry) => (
          <option key={entry} value={`input ${entry}`}>
            input {capped(signature.inputs[entry]?.path ?? "?", 60)}
          </option>
        ))}
      </select>
      {implied > 0 && (
        <label>
          <input
            type="checkbox"
            checked={filter.implied}
            onChange={() => change({ ...filter, implied: !filter.implied })}
          />{" "}
          {implied} that follow from others
        </label>
      )}
    </div>
  );
}

const EFFECTS: { [effect in Guard["effect"]]: string } = {
  narrows: "narrows a range",
  fixes: "fixes a size",
  equates: "makes two sizes one",
  kept: "checked on each call",
  implied: "follows from others",
};

function GuardRow({ store, program, guard }: Props & { guard: Guard }) {
  const frame = bestFrame(program, program.stackAt(guard.stack));
  const classes = [
    frame ? "tx-pressable" : "",
    concerns(program, guard, store.lit.value) ? "tx-lit" : "",
  ];
  const asserted = guard.kind === "runtime_assert";
  return (
    <tr
      class={classes.join(" ").trim()}
      {...(frame ? pressable(() => store.goTo(frame.file, frame.line)) : {})}
    >
      <td title={capped(`torch: ${guard.torch_text}`)}>
        <span class="tx-mono">
          <ConditionText program={program} text={guard.text} symbols={guard.symbols} />
        </span>
        {guard.count > 1 && (
          <span class="tx-lead" title={`Asked ${guard.count} times`}>
            {" "}
            ×{guard.count}
          </span>
        )}
        <div class="tx-effect-line">
          <span class={`tx-effect tx-effect-${guard.effect}`}>
            {asserted && guard.effect !== "kept" ? "checked on each call" : EFFECTS[guard.effect]}
          </span>
          {guard.result && (
            <span class="tx-mono">
              {" "}
              <ConditionText program={program} text={guard.result} symbols={guard.symbols} />
            </span>
          )}
        </div>
      </td>
      <td class="tx-asked">
        {frame ? <LineLink store={store} program={program} stack={guard.stack} /> : "—"}
        {guard.asked_by && <div class="tx-lead">{capped(guard.asked_by, 80)}</div>}
      </td>
    </tr>
  );
}

/** Whether a guard is about what is selected: its line, or a size of it. */
function concerns(program: Program, guard: Guard, { lines, symbols }: Lit): boolean {
  if (guard.symbols.some((symbol) => symbols.has(symbol))) return true;
  return program.stackAt(guard.stack).some(({ file, line }) => lines.get(file)?.has(line));
}
