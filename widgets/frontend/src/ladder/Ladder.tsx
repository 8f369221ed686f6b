/** The graph of a program that was compiled: one of its stages, or two side by side. */

import { useEffect, useMemo } from "preact/hooks";
import { capped, counted } from "../format";
import { GraphPane } from "../graph/GraphPane";
import { meaningOf } from "../panes/parts/Word";
import type { Program } from "../program";
import type { Stages } from "../record.gen";
import type { Store } from "../store";
import { LinkedStage } from "./linked_stage";
import { type Rung, rungsOf, type StageProgram, stageProgram } from "./stage_program";

interface Props {
  store: Store;
  program: Program;
}

/** The ladder's compilation; undefined if the program was not compiled. */
export function compilationOf(store: Store, { record }: Program): Stages | undefined {
  return record.stages[store.compilation.value] ?? record.stages.at(-1);
}

export function Ladder({ store, program }: Props) {
  const stages = compilationOf(store, program);
  const all = program.record.stages as readonly Stages[];
  const rungs = stages ? rungsOf(stages) : [];
  const [shown, beside] = [store.rung.value, store.besideRung.value];
  const own = rungs.includes(shown) ? shown : "exported";
  if (!stages || (own === "exported" && beside === null)) return <GraphPane store={store} />;
  const other = beside !== null && beside !== own && rungs.includes(beside) ? beside : null;
  const bar = <Bar store={store} stages={stages} rungs={rungs} shown={own} beside={other} />;
  const pane = (rung: Rung, children: preact.ComponentChildren) => (
    // the key names the compilation, so that another graph is fitted
    <RungPane
      key={`${all.indexOf(stages)} ${rung}`}
      store={store}
      program={program}
      stages={stages}
      rung={rung}
    >
      {children}
    </RungPane>
  );
  return (
    <div class="tx-rungs">
      {other !== null &&
        pane(other, <Beside store={store} rungs={rungs} shown={own} beside={other} />)}
      {pane(own, bar)}
    </div>
  );
}

interface PaneProps extends Props {
  stages: Stages;
  rung: Rung;
  children: preact.ComponentChildren;
}

function RungPane({ store, program, stages, rung, children }: PaneProps) {
  const stage = stageProgram(program, stages, rung);
  if (!stage) return <GraphPane store={store}>{children}</GraphPane>;
  return (
    <StagePane store={store} stage={stage}>
      {children}
    </StagePane>
  );
}

interface StagePaneProps {
  store: Store;
  stage: StageProgram;
  children: preact.ComponentChildren;
}

function StagePane({ store, stage, children }: StagePaneProps) {
  const linked = useMemo(() => new LinkedStage(store, stage), [store, stage]);
  useEffect(() => () => linked.dispose(), [linked]);
  return <GraphPane store={linked.store}>{children}</GraphPane>;
}

interface BarProps {
  store: Store;
  stages: Stages;
  rungs: readonly Rung[];
  shown: Rung;
  beside: Rung | null;
}

/** Which stage is on the canvas, and which beside it. */
function Bar({ store, stages, rungs, shown, beside }: BarProps) {
  return (
    <div class="tx-tools" role="toolbar" aria-label="Stages of the compilation">
      {beside === null ? (
        <>
          <RungChoice store={store} stages={stages} rungs={rungs} shown={shown} />
          <Beside store={store} rungs={rungs} shown={shown} beside={null} />
        </>
      ) : (
        <select
          class="tx-input"
          aria-label="Stage on the canvas"
          value={shown}
          onChange={(event) => store.showRung(event.currentTarget.value as Rung)}
        >
          {rungs
            .filter((rung) => rung !== beside)
            .map((rung) => (
              <option key={rung} value={rung}>
                {rung}
              </option>
            ))}
        </select>
      )}
      <button
        type="button"
        class="tx-button"
        title="Show only the exported program"
        aria-label="Close the stages"
        onClick={() => store.showRung("exported", null)}
      >
        ×
      </button>
    </div>
  );
}

/** Which stage is beside that on the canvas. */
function Beside({ store, rungs, shown, beside }: Omit<BarProps, "stages">) {
  return (
    <select
      class="tx-input"
      aria-label="Second stage"
      data-testid="rung-beside"
      value={beside ?? ""}
      onChange={(event) => {
        store.besideRung.value = (event.currentTarget.value || null) as Rung | null;
      }}
    >
      <option value="">{beside === null ? "beside…" : "close"}</option>
      {rungs
        .filter((rung) => rung !== shown)
        .map((rung) => (
          <option key={rung} value={rung}>
            beside {rung}
          </option>
        ))}
    </select>
  );
}

interface ChoiceProps {
  store: Store;
  stages: Stages;
  rungs: readonly Rung[];
  shown: Rung;
}

/** The stages in order, with how many ops or kernels each has; a press shows one on the canvas. */
export function RungChoice({ store, stages, rungs, shown }: ChoiceProps) {
  const counts = new Map<Rung, string>([
    ["exported", counted(stages.exported, "op")],
    ...stages.graphs.map(({ name, ops }) => [name, counted(ops.length, "op")] as const),
    ["kernels", counted(stages.kernels.length, "kernel")],
  ]);
  return (
    <fieldset class="tx-choice" aria-label="Stage on the canvas">
      {rungs.map((rung) => (
        <button
          key={rung}
          type="button"
          class="tx-button"
          data-testid={`rung-${rung}`}
          title={`${capped(rung, 40)}: ${counts.get(rung) ?? ""}, on the canvas. ${meaningOf(rung) ?? ""}`}
          aria-pressed={rung === shown}
          onClick={() => store.showRung(rung)}
        >
          {rung}
        </button>
      ))}
    </fieldset>
  );
}
