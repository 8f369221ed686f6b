/**
 * The programs of a set in the order of their calls, in place of a title; one is shown below. The
 * tensors between them, shared weights and mismatches are a press away.
 */

import { viewId } from "../dom_id";
import { bytesText, capped, counted } from "../format";
import { Popover } from "../Popover";
import { meaningOf } from "../panes/parts/Word";
import type { ProgramSet, Seam } from "../record.gen";
import type { Store } from "../store";
import { Generated } from "./Generated";
import { SeamTable } from "./SeamTable";
import { FindingsBetween, SharedWeights, SizesInCommon } from "./SetFacts";
import { tabKeys } from "./Tabs";

export function ProgramStrip({ store }: { store: Store }) {
  const set = store.programs.value?.set;
  if (!set) return null;
  return (
    <section class="tx-strip" aria-label="Programs of the set" data-testid="strip">
      <Components store={store} set={set} />
      <Between store={store} set={set} />
      <GeneratedBySet store={store} set={set} />
    </section>
  );
}

interface SetProps {
  store: Store;
  set: ProgramSet;
}

function Components({ store, set }: SetProps) {
  const shown = store.shownComponent();
  const show = (index: number): void => void store.showComponent(index);
  return (
    <div
      class="tx-strip-row"
      role="tablist"
      aria-label="Programs"
      onKeyDown={tabKeys([...set.components.keys()], shown, show)}
    >
      {set.components.map((each, index) => (
        <button
          key={index}
          type="button"
          role="tab"
          class={`tx-strip-program tx-mark-${each.outcome}`}
          aria-selected={shown === index}
          aria-controls={viewId(store)}
          tabIndex={shown === index ? 0 : -1}
          title={componentFacts(each)}
          onClick={() => show(index)}
        >
          <strong>{capped(each.name, 60)}</strong>
        </button>
      ))}
    </div>
  );
}

function componentFacts({
  name,
  role,
  ops,
  bytes,
  verdict,
}: ProgramSet["components"][number]): string {
  const facts = [capped(role, 60), counted(ops, "op"), bytesText(bytes), capped(verdict)];
  return `${capped(name, 60)}: ${facts.filter(Boolean).join(" · ")}`;
}

/** `prefill → decode`; a program's own next call is marked so. */
export function seamName(set: ProgramSet, seam: Seam): string {
  const source = set.components[seam.source]?.name ?? "";
  const target = set.components[seam.target]?.name ?? "";
  return seam.source === seam.target ? `${source} ↻ next call` : `${source} → ${target}`;
}

/** All that is known between the programs, in one panel; problems are on its button. */
function Between({ store, set }: SetProps) {
  const { findings, notes, seams, symbols, weights } = set;
  const seam = seams[store.seam.value];
  const all = findings.length + notes.length + seams.length + symbols.length + weights.length;
  if (all === 0) return null;
  return (
    <Popover name="Between the programs" face={betweenFace(set)}>
      {findings.length > 0 && <FindingsBetween store={store} set={set} />}
      {seams.length > 0 && <h3 title={meaningOf("Connections")}>Connections</h3>}
      {seams.length > 0 && <Seams store={store} set={set} />}
      {seam && <SeamTable store={store} set={set} seam={seam} />}
      {symbols.length > 0 && <SizesInCommon set={set} />}
      {weights.length > 0 && <SharedWeights set={set} />}
      {notes.length > 0 && (
        <>
          <h3>Notes on the set</h3>
          <ul class="tx-strip-list">
            {notes.map((each, index) => (
              <li key={index}>{capped(each, 600)}</li>
            ))}
          </ul>
        </>
      )}
    </Popover>
  );
}

function betweenFace({ findings, seams }: ProgramSet): string {
  const wrong = findings.some((each) => each.severity === "wrong");
  if (findings.length > 0)
    return `${wrong ? "✗" : "!"} ${counted(findings.length, "finding")} between`;
  return seams.length > 0 ? counted(seams.length, "connection") : "In common";
}

function Seams({ store, set }: SetProps) {
  return (
    <ul class="tx-strip-seams" aria-label="Tensors passed between the programs">
      {set.seams.map((seam, index) => {
        const wrong = set.findings.some((each) => each.seam === index && each.severity === "wrong");
        return (
          <li key={index}>
            <button
              type="button"
              class={`tx-button${wrong ? " tx-strip-wrong" : ""}`}
              aria-pressed={store.seam.value === index}
              onClick={() => store.showSeam(store.seam.value === index ? -1 : index)}
            >
              {capped(seamName(set, seam), 100)} <span>{capped(seam.summary, 100)}</span>
            </button>
          </li>
        );
      })}
    </ul>
  );
}

function GeneratedBySet({ store, set }: SetProps) {
  const run = set.trials.filter((each) => each.outcome !== "unavailable");
  const same = run.filter((each) => each.outcome === "same").length;
  const backends = (store.host.live && store.programs.value?.backends) || [];
  if (set.trials.length === 0 && backends.length === 0) return null;
  return (
    <Popover
      name="Generated by the programs"
      face={generatedFace(run.length, same)}
      {...(run.length > 0 && { core: sameText(run.length, same) })}
    >
      <Generated store={store} set={set} backends={backends} />
    </Popover>
  );
}

function generatedFace(run: number, same: number): string {
  if (run === 0) return "Generate…";
  return `${same === run ? "✓" : "✗"} generated: ${sameText(run, same)}`;
}

const sameText = (run: number, same: number): string => `${same} of ${run} the same`;
