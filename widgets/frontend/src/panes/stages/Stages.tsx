/** After export: the ladder from the program's ops to kernels, with their lines, times and code. */

import { useMemo } from "preact/hooks";
import type { Comparison } from "../../compare/comparison";
import { capped, counted, durationText, shareText } from "../../format";
import { compilationOf, RungChoice } from "../../ladder/Ladder";
import { rungsOf } from "../../ladder/stage_program";
import { asOnScreen } from "../../ladder/stages_diff";
import type { Program } from "../../program";
import type { Stages as Made } from "../../record.gen";
import { kernelsOf, type Shown } from "../../stages";
import type { Store } from "../../store";
import { Empty } from "../parts/parts";
import { Changes } from "./Changes";
import { KernelFacts } from "./KernelFacts";
import { KernelTables } from "./KernelTables";
import { StagesForm } from "./StagesForm";
import { CodeText, GraphText } from "./StageTexts";

interface Props {
  store: Store;
  program: Program;
}

export function Stages({ store, program }: Props) {
  const all = program.record.stages;
  const baseline = store.baseline.value;
  const stages = compilationOf(store, program);
  const comparison = store.comparison.value;
  const baselines = useMemo(() => baselinesOf(all, comparison), [all, comparison]);
  const before = baselines[baseline];
  // a text scrolls by itself; the lists scroll with all above them, which leaves them little room
  const isList = store.stagesShown.value.kind === "kernels";
  const panel = isList ? "tx-panel tx-panel-scrolls" : "tx-panel";
  return (
    <section class={panel} aria-label="Stages" data-testid="stages" data-pane>
      <div class="tx-stages-head">
        {store.host.live && <StagesForm store={store} step={isStep(program)} />}
        {stages && baselines.length > 1 && (
          <div class="tx-stages-choice">
            <select
              class="tx-input"
              aria-label="Compilation"
              value={all.indexOf(stages as Made)}
              onChange={(event) => {
                store.compilation.value = Number(event.currentTarget.value);
              }}
            >
              {all.map((each, index) => (
                <option key={index} value={index}>
                  {index + 1}: {capped(titleOf(each), 120)}
                </option>
              ))}
            </select>
            <select
              class="tx-input"
              aria-label="Compare with"
              data-testid="stages-against"
              value={baseline}
              onChange={(event) => {
                store.baseline.value = Number(event.currentTarget.value);
                store.stagesShown.value = { kind: "kernels" }; // where the changes are
              }}
            >
              <option value={-1}>Compare with…</option>
              {baselines.map((each, index) =>
                each.stages === stages ? null : (
                  <option key={index} value={index}>
                    Compare with {each.name}
                  </option>
                ),
              )}
            </select>
          </div>
        )}
      </div>
      {stages ? (
        <Compilation
          store={store}
          program={program}
          stages={stages}
          before={before?.stages === stages ? undefined : before?.stages}
        />
      ) : (
        <Empty>
          {store.host.live
            ? "Not compiled yet. Compile shows which kernels run, " +
              "for which ops and lines each of them computes, how long it takes, and its code."
            : "The program was not compiled before this page was saved."}
        </Empty>
      )}
    </section>
  );
}

/** Whether the program is a training step: its ops are of a forward and of a backward pass. */
const isStep = ({ record: { overlays } }: Program): boolean =>
  overlays.some(({ name }) => name === "pass");

interface Baseline {
  name: string;
  /** With nodes of the program on screen. */
  stages: Made;
}

/** The compilations of the program on screen, then those of the program that it is compared with. */
function baselinesOf(all: readonly Made[], comparison: Comparison | null): Baseline[] {
  const others = comparison?.before.record;
  return [
    ...all.map((each, at) => ({ name: `${at + 1}: ${capped(titleOf(each), 120)}`, stages: each })),
    ...(others?.stages ?? []).map((each) => ({
      name: capped(`${others?.title ?? ""}: ${titleOf(each)}`, 160),
      stages: comparison ? asOnScreen(each, comparison.merged) : each,
    })),
  ];
}

/** What tells it from others comes first: a choice has little room. */
const titleOf = ({ title, settings, device }: Made): string =>
  [settings, title, device === "cpu" ? "" : device].filter(Boolean).join(", ");

interface CompilationProps extends Props {
  stages: Made;
  /** The compilation that it is compared with, if any. */
  before: Made | undefined;
}

function Compilation({ store, program, stages, before }: CompilationProps) {
  const shown = store.stagesShown.value;
  const show = (to: Shown): void => {
    store.stagesShown.value = to;
  };
  const lit = kernelsOf(stages, store.lit.value.nodes);
  const picked = store.kernel.value;
  // a kernel of the compiler's own ops has none of the program's
  const isPicked = lit.has(picked) || (lit.size === 0 && store.origin.value === "stages");
  const kernel = isPicked && picked < stages.kernels.length ? picked : ([...lit][0] ?? -1);
  const code = shown.kind === "code" ? stages.codes[shown.number] : undefined;
  const graph = shown.kind === "graph" ? stages.graphs[shown.number] : undefined;
  return (
    <>
      <div class="tx-ladder">
        <span>On the canvas</span>
        <RungChoice
          store={store}
          stages={stages}
          rungs={rungsOf(stages)}
          shown={store.rung.value}
        />
      </div>
      <Texts stages={stages} shown={shown} show={show} />
      {code && (
        <CodeText
          store={store}
          stages={stages}
          number={shown.kind === "code" ? shown.number : 0}
          kernel={kernel}
          lit={lit}
        />
      )}
      {graph && <GraphText store={store} graph={graph} />}
      {shown.kind === "kernels" && (
        <div class="tx-scroll">
          <Times stages={stages} />
          {before && <Changes store={store} before={before} after={stages} />}
          {kernel >= 0 && (
            <KernelFacts
              store={store}
              program={program}
              stages={stages}
              number={kernel}
              count={lit.size}
              show={show}
            />
          )}
          <KernelTables store={store} stages={stages} lit={lit} kernel={kernel} />
          {stages.left_out.map((each) => (
            <p key={each} class="tx-lead">
              {capped(each, 400)}
            </p>
          ))}
        </div>
      )}
    </>
  );
}

/** The pane's content: the list of kernels, a graph as text, or code, as buttons. */
function Texts({
  stages,
  shown,
  show,
}: {
  stages: Made;
  shown: Shown;
  show: (shown: Shown) => void;
}) {
  const texts: [text: string, shown: Shown][] = [
    [`${counted(stages.kernels.length, "kernel")}`, { kind: "kernels" }],
    ...stages.graphs.flatMap(({ name, text }, number): [string, Shown][] =>
      text ? [[`${name} as text`, { kind: "graph", number }]] : [],
    ),
    ...stages.codes.map(({ title }, number): [string, Shown] => [title, { kind: "code", number }]),
  ];
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset is for a form
    <div class="tx-ladder" role="group" aria-label="In this pane">
      {texts.map(([text, to]) => (
        <button
          key={text}
          type="button"
          class="tx-button"
          aria-pressed={JSON.stringify(to) === JSON.stringify(shown)}
          onClick={() => show(to)}
        >
          {capped(text, 40)}
        </button>
      ))}
    </div>
  );
}

/** A call and its parts. */
function Times({ stages }: { stages: Made }) {
  const { times, removed, ...rest } = stages;
  const settings = rest.settings ? `, ${rest.settings}` : "";
  return (
    <>
      <p class="tx-lead">
        {capped(`${rest.title}${settings} on ${rest.device}, ${rest.inputs}`, 200)}; compiled in{" "}
        {durationText(rest.seconds)}
        {rest.cached && " from torch's cache"}
        {removed.length > 0 && `; ${counted(removed.length, "op")} removed`}
      </p>
      {times && <PartsOfCall stages={stages} times={times} />}
      {times && <p class="tx-lead">{capped(times.method, 200)}</p>}
    </>
  );
}

/** The parts of a call's time: kernels, the time between them, and the rest. */
function PartsOfCall({ stages, times }: { stages: Made; times: NonNullable<Made["times"]> }) {
  const whole = Math.max(times.call, times.kernels + times.between) || 1;
  const parts: [name: string, took: number, note: string][] = [
    ["A call", times.call, "without the profiler"],
    ["Kernels", times.kernels, `${Math.round(100 * times.owned)} % of known lines`],
    ...passesOf(stages),
    ["Between kernels", times.between, capped(times.other, 200)],
    ["Rest of the call", times.overhead, "Python, launches"],
  ];
  return (
    <table class="tx-table tx-histogram" data-testid="stage-call-parts">
      <tbody>
        {parts.map(([name, took, note]) =>
          took > 0 || name !== "Between kernels" ? (
            <tr key={name} title={note}>
              <td class="tx-clip">
                {name} <span class="tx-lead">{note}</span>
              </td>
              <td class="tx-number">{durationText(took / 1e6)}</td>
              <td class="tx-number">{shareText(took / whole)}</td>
              <td class="tx-bar-cell">
                <div class="tx-bar tx-bar-heat" style={{ width: `${(100 * took) / whole}%` }} />
              </td>
            </tr>
          ) : null,
        )}
      </tbody>
    </table>
  );
}

/** The kernels' time of each pass of a training step. */
function passesOf({ backward, kernels }: Made): [name: string, took: number, note: string][] {
  if (backward < 0) return [];
  const sum = (some: Made["kernels"]): number =>
    some.reduce((total, { microseconds }) => total + Math.max(microseconds, 0), 0);
  return [
    ["Forward pass", sum(kernels.slice(0, backward)), "kernels"],
    ["Backward pass", sum(kernels.slice(backward)), "kernels"],
  ];
}
