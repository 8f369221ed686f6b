/** After export: the ladder from the program's ops to kernels, with their lines, times and code. */

import { useState } from "preact/hooks";
import { capped, counted, durationText } from "../../format";
import { compilationOf, RungChoice } from "../../ladder/Ladder";
import { rungsOf } from "../../ladder/stage_program";
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
  const [baseline, setBaseline] = useState(-1);
  const stages = compilationOf(store, program);
  return (
    <section class="tx-panel" aria-label="Stages" data-testid="stages" data-pane>
      <div class="tx-stages-head">
        {store.host.live && <StagesForm store={store} />}
        {all.length > 1 && (
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
              onChange={(event) => setBaseline(Number(event.currentTarget.value))}
            >
              <option value={-1}>Compare with…</option>
              {all.map((each, index) =>
                each === stages ? null : (
                  <option key={index} value={index}>
                    Compare with {index + 1}: {capped(titleOf(each), 120)}
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
          before={all[baseline] === stages ? undefined : all[baseline]}
        />
      ) : (
        <Empty>
          {store.host.live
            ? "Not compiled yet. After export… compiles the program and shows which kernels run, " +
              "for which ops and lines each of them computes, how long it takes, and its code."
            : "The program was not compiled before this page was saved."}
        </Empty>
      )}
    </section>
  );
}

const titleOf = ({ title, settings, device }: Made): string =>
  [title, settings, device].filter(Boolean).join(", ");

interface CompilationProps extends Props {
  stages: Made;
  /** The compilation that it is compared with, if any. */
  before: Made | undefined;
}

function Compilation({ store, program, stages, before }: CompilationProps) {
  const [shown, show] = useState<Shown>({ kind: "kernels" });
  const lit = kernelsOf(stages, store.lit.value.nodes);
  const picked = store.kernel.value;
  // a kernel of ops that the compiler made by itself has none of the program's
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

/** What the pane shows: the list of kernels, a graph as text, or code, as buttons. */
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
function Times({ stages: { times, removed, ...rest } }: { stages: Made }) {
  const settings = rest.settings ? `, ${rest.settings}` : "";
  return (
    <>
      <p class="tx-lead">
        {capped(`${rest.title}${settings} on ${rest.device}, ${rest.inputs}`, 200)}; compiled in{" "}
        {durationText(rest.seconds)}
        {rest.cached && " from torch's cache"}
        {removed.length > 0 && `; ${counted(removed.length, "op")} removed`}
      </p>
      {times && (
        <dl class="tx-facts">
          <dt>A call</dt>
          <dd>
            {durationText(times.call / 1e6)} <span class="tx-lead">without the profiler</span>
          </dd>
          <dt>Kernels</dt>
          <dd>
            {durationText(times.kernels / 1e6)},{" "}
            <span class="tx-lead">{Math.round(100 * times.owned)} % of known lines</span>
          </dd>
          <dt>Rest of the call</dt>
          <dd>
            {durationText(times.overhead / 1e6)}{" "}
            <span class="tx-lead">Python, allocations, launches</span>
          </dd>
          {times.between > 0 && (
            <>
              <dt>Between kernels</dt>
              <dd>
                {durationText(times.between / 1e6)}{" "}
                <span class="tx-lead">{capped(times.other, 200)}</span>
              </dd>
            </>
          )}
        </dl>
      )}
      {times && <p class="tx-lead">{capped(times.method, 200)}</p>}
    </>
  );
}
