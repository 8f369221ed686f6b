/** The right side: facts above, texts below, or one row of tabs for all of them. */

import { Cost } from "../panes/cost/Cost";
import { Delegate } from "../panes/delegate/Delegate";
import { Differences } from "../panes/differences/Differences";
import { Findings } from "../panes/findings/Findings";
import { Inspector } from "../panes/inspector/Inspector";
import { Runs } from "../panes/runs/Runs";
import { Shapes } from "../panes/shapes/Shapes";
import { Signature } from "../panes/signature/Signature";
import { Code } from "../panes/source/Code";
import { Source } from "../panes/source/Source";
import { Stages } from "../panes/stages/Stages";
import { Values } from "../panes/values/Values";
import { Verify } from "../panes/verify/Verify";
import type { Program } from "../program";
import type { Store } from "../store";
import { openStatus, type TabStatus, tabStatus } from "../tab_status";
import type { Tab } from "../view_state";
import { PANES } from "./all_commands";
import { Guarded } from "./Guarded";
import { Split } from "./Split";
import { DEFAULTS, type Sizes } from "./sizes";
import { Tabs } from "./Tabs";

type Named = (typeof PANES)[number];
const isText = ([tab]: Named): boolean => tab === "source" || tab === "code";
const TEXTS = PANES.filter(isText);
const FACTS = PANES.filter((each) => !isText(each));
const DIFFERENCES: Named = ["differences", "Diff", "what differs from the other program"];

const NAMES = new Map([DIFFERENCES, ...PANES].map(([tab, name]) => [tab, name]));

/** Below this, two panes one above the other would both be too low to read. */
const LOW = 420;
const LEAST = 120;

interface DetailsProps {
  store: Store;
  program: Program;
  /** 0 if there is no room for one pane below the other. */
  height: number;
  sizes: Sizes;
  change: (change: Partial<Sizes>) => void;
}

/** One pane and a row of tabs for all of them; or facts above and texts below, if that is wanted. */
export function Details(props: DetailsProps) {
  const { height, sizes } = props;
  if (sizes.below === 1 && height >= LOW) return <StackedDetails {...props} />;
  return <TabbedDetails {...props} />;
}

/** An op and its line in view at once. */
export function StackedDetails({ store, program, height, sizes, change }: DetailsProps) {
  const upper = Math.min(Math.max(height * sizes.facts, LEAST), height - LEAST);
  return (
    <>
      <div class="tx-side" style={{ height: `${upper}px` }}>
        <Tabs
          label="Facts"
          tabs={store.comparison.value ? [DIFFERENCES, ...FACTS] : FACTS}
          open={store.facts.value}
          choose={(tab) => store.open(tab)}
          status={(tab) => statusOf(tab, store, program)}
        >
          <Detail tab={store.facts.value} store={store} program={program} />
        </Tabs>
      </div>
      <Split
        label="Height of the facts"
        along="column"
        value={upper}
        least={LEAST}
        most={height - LEAST}
        side={1}
        change={(size) => change({ facts: size / height })}
        reset={() => change({ facts: DEFAULTS.facts })}
      />
      <div class="tx-side" style={{ flex: "1 1 0" }}>
        <Tabs
          label="Texts"
          tabs={TEXTS}
          open={store.text.value}
          choose={(tab) => store.open(tab)}
          end={<Below sizes={sizes} change={change} />}
        >
          <Detail tab={store.text.value} store={store} program={program} />
        </Tabs>
      </div>
    </>
  );
}

function TabbedDetails({ store, program, height, sizes, change }: DetailsProps) {
  const tab = store.tab.value;
  return (
    <Tabs
      label="Details"
      tabs={store.comparison.value ? [DIFFERENCES, ...PANES] : PANES}
      open={tab}
      choose={(each) => store.open(each)}
      status={(each) => statusOf(each, store, program)}
      end={height >= LOW && <Below sizes={sizes} change={change} />}
    >
      <Detail tab={tab} store={store} program={program} />
    </Tabs>
  );
}

/** Moves Source and Code below the other details, and back. */
function Below({ sizes, change }: Pick<DetailsProps, "sizes" | "change">) {
  const on = sizes.below === 1;
  const name = on ? "Source and Code as tabs" : "Source and Code below the other details";
  return (
    <button
      type="button"
      class="tx-tab tx-tab-end"
      title={name}
      aria-label={name}
      aria-pressed={on}
      onClick={() => change({ below: on ? 0 : 1 })}
    >
      <svg width="12" height="12" viewBox="0 0 12 12" aria-hidden="true">
        <path
          d={on ? "M1 1h10v10H1zM1 4h10" : "M1 1h10v10H1zM1 6h10"}
          fill="none"
          stroke="currentColor"
          stroke-width="1.2"
        />
      </svg>
    </button>
  );
}

/** A tab's status; else that it is still open, until something was requested. */
function statusOf(tab: Tab, store: Store, { record }: Program): TabStatus | null {
  const known = { record, release: store.release.value };
  return tabStatus(tab, known, store.comparison.value) ?? openStatus(tab, known);
}

interface DetailProps {
  tab: Tab;
  store: Store;
  program: Program;
}

/** One pane; an error inside it leaves the others alive. */
export function Detail({ tab, store, program }: DetailProps) {
  return (
    <Guarded key={tab} name={NAMES.get(tab) ?? tab} program={program}>
      <Pane tab={tab} store={store} program={program} />
    </Guarded>
  );
}

function Pane({ tab, store, program }: DetailProps) {
  switch (tab) {
    case "inspector":
      return <Inspector store={store} program={program} />;
    case "source":
      return <Source store={store} program={program} />;
    case "signature":
      return <Signature store={store} program={program} />;
    case "shapes":
      return <Shapes store={store} program={program} />;
    case "findings":
      return <Findings store={store} program={program} />;
    case "guarantees":
      return <Verify store={store} program={program} />;
    case "runs":
      return <Runs store={store} program={program} />;
    case "cost":
      return <Cost store={store} program={program} />;
    case "values":
      return <Values store={store} program={program} />;
    case "stages":
      return <Stages store={store} program={program} />;
    case "delegate":
      return <Delegate store={store} program={program} />;
    case "differences":
      return <Differences store={store} program={program} />;
    case "code":
      return <Code store={store} program={program} />;
  }
}
