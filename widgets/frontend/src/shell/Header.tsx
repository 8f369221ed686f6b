/** The first line: the call, the verdict, and notes. */

import { capped, counted } from "../format";
import { Popover } from "../Popover";
import { LongText } from "../panes/parts/parts";
import { meaningOf } from "../panes/parts/Word";
import type { Program } from "../program";
import type { Store } from "../store";
import { signOf, tabStatus } from "../tab_status";
import { CompareWith } from "./CompareWith";
import { Guarded } from "./Guarded";
import { History } from "./History";
import { ProgramStrip } from "./ProgramStrip";
import { Release } from "./Release";

interface HeaderProps {
  store: Store;
  program: Program;
  full: boolean;
  toggleFull: () => void;
}

export function Header({ store, program, full, toggleFull }: HeaderProps) {
  const { record } = program;
  const isOfSet = store.programs.value !== null && store.host.layout === "all";
  const screen = full ? "Exit full screen" : "Full screen";
  return (
    <header class="tx-header">
      <h2 class={isOfSet ? "tx-hidden" : "tx-title"} title={capped(record.title)}>
        {capped(record.title, 200)}
      </h2>
      {isOfSet && (
        <Guarded name="Programs of the set" program={program}>
          <ProgramStrip store={store} />
        </Guarded>
      )}
      <History store={store} />
      <span
        class={`tx-verdict tx-mark-${signOf({ record, release: store.release.value })}`}
        title={capped(record.verdict)}
        data-testid="verdict"
      >
        <Parts verdict={capped(record.verdict, 400)} />
      </span>
      <KnownSince store={store} program={program} />
      <Release store={store} program={program} />
      <Notes
        warnings={record.warnings}
        printed={record.printed}
        leftOut={record.left_out}
        ofFile={record.mode === "loaded"}
      />
      <Selections store={store} />
      <CompareWith store={store} />
      {store.host.layout === "all" && (
        <button
          type="button"
          class="tx-button"
          title="Commands, their keys, and queries (? or Ctrl+K)"
          aria-haspopup="dialog"
          onClick={() => {
            store.commands.value = true;
          }}
        >
          Commands
        </button>
      )}
      {store.teaching.value && (
        <button
          type="button"
          class="tx-button"
          onClick={() => {
            store.teaching.value = false;
          }}
        >
          Exit the teaching layout
        </button>
      )}
      <button
        type="button"
        class="tx-button"
        title={screen}
        aria-label={screen}
        aria-pressed={full}
        onClick={toggleFull}
      >
        <FullScreenIcon leave={full} />
      </button>
    </header>
  );
}

/** A verdict part by part: one for which there is no room is left out as a whole, never cut. */
function Parts({ verdict }: { verdict: string }) {
  const parts = verdict.split(/(?=[,:] (?![^[(]*[\])]))/);
  return (
    <span class="tx-verdict-parts">
      {parts.map((part, index) => (
        <span
          key={index}
          class={part === ", non-strict" ? "tx-verdict-mode" : undefined}
          title={meaningOf(part.replace(/^[,:] /, ""))}
        >
          {part}
        </span>
      ))}
    </span>
  );
}

/** Back and forward through what was selected; nothing before there is a way back. */
function Selections({ store }: { store: Store }) {
  if (store.past.value.length + store.future.value.length === 0) return null;
  return (
    <fieldset class="tx-choice" aria-label="Selection history">
      <button
        type="button"
        class="tx-button"
        title="Back to the previous selection ([)"
        aria-label="Back to the previous selection"
        disabled={store.past.value.length === 0}
        onClick={() => store.back()}
      >
        ‹
      </button>
      <button
        type="button"
        class="tx-button"
        title="Forward again (])"
        aria-label="Forward again"
        disabled={store.future.value.length === 0}
        onClick={() => store.forward()}
      >
        ›
      </button>
    </fieldset>
  );
}

const CHECKED = ["guarantees", "runs"] as const;

/** Results since the export, each a link to its pane; findings are in the verdict. */
function KnownSince({ store, program }: { store: Store; program: Program }) {
  const known = CHECKED.flatMap((tab) => {
    const { record } = program;
    const status = tabStatus(tab, { record, release: store.release.value }, null);
    return status ? [{ tab, ...status }] : [];
  });
  if (known.length === 0) return null;
  return (
    <span class="tx-tab-status" data-testid="tab-status">
      {known.map(({ tab, tone, words }) => (
        <button
          key={tab}
          type="button"
          class={`tx-badge tx-tab-status-${tone}`}
          title={`${capped(words, 200)}: open its pane`}
          onClick={() => store.open(tab)}
        >
          {capped(words, 60)}
        </button>
      ))}
    </span>
  );
}

/** Warnings of torch, missing features and the model's prints: one press away. */
function Notes({
  warnings,
  printed,
  leftOut,
  ofFile,
}: {
  warnings: string[];
  printed: string;
  leftOut: string[];
  /** Whether the program was read, not traced: then they are about its file. */
  ofFile: boolean;
}) {
  const said = warnings.length + leftOut.length;
  if (said === 0 && !printed) return null;
  const parts = [
    warnings.length > 0 && counted(warnings.length, ofFile ? "note" : "warning"),
    printed && "printed text",
    leftOut.length > 0 && "missing in this version of torch",
  ].filter(Boolean);
  const face = said === 0 ? "Printed" : ofFile ? counted(said, "note") : `⚠ ${said}`;
  return (
    <Popover name={`${ofFile ? "Of the file" : "While tracing"}: ${parts.join(", ")}`} face={face}>
      {warnings.length > 0 && <h3>{ofFile ? "Notes on the file" : "Warnings while tracing"}</h3>}
      <LongTexts name="Warning" texts={warnings} />
      {leftOut.length > 0 && <h3>Unavailable with this version of torch</h3>}
      <LongTexts name="Left out" texts={leftOut} />
      {printed && <h3>Printed by the model</h3>}
      {printed && <LongText name="Printed by the model">{capped(printed, 20_000)}</LongText>}
    </Popover>
  );
}

function LongTexts({ name, texts }: { name: string; texts: string[] }) {
  return (
    <>
      {texts.map((text, index) => (
        <LongText key={index} name={name}>
          {capped(text, 4000)}
        </LongText>
      ))}
    </>
  );
}

/** Four corners, turned inwards to leave. Drawn, since few fonts have the sign. */
function FullScreenIcon({ leave }: { leave: boolean }) {
  return (
    <svg width="11" height="11" viewBox="0 0 11 11" aria-hidden="true">
      <path
        d={leave ? "M1 4h3V1M7 1v3h3M10 7H7v3M4 10V7H1" : "M1 4V1h3M7 1h3v3M10 7v3H7M4 10H1V7"}
        fill="none"
        stroke="currentColor"
        stroke-width="1.4"
      />
    </svg>
  );
}
