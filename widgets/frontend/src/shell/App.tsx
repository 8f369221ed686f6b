/** The whole widget: header, panes, global keys, and announcements for screen readers. */

import type { RefObject } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { viewId } from "../dom_id";
import type { Program } from "../program";
import { spoken } from "../spoken_selection";
import type { Store } from "../store";
import { Columns, GuardedGraph } from "./Columns";
import { Commands } from "./Commands";
import { useClicked } from "./clicked";
import { Detail } from "./Details";
import { Failed } from "./Failed";
import { useFullScreen } from "./fullscreen";
import { Guarded } from "./Guarded";
import { Header } from "./Header";
import { isChosenByTabs } from "./History";
import { onKey } from "./keys";
import { Lost } from "./Lost";
import { Opening } from "./Opening";
import { Outcome } from "./Outcome";
import { Split } from "./Split";
import { SpokenAction } from "./SpokenAction";
import { useSizes } from "./sizes";
import { Untrusted } from "./Untrusted";
import { useBox } from "./useBox";
import { useTheme } from "./useTheme";
import { Working } from "./Working";

const LEAST_HEIGHT = 260;
const MOST_HEIGHT = 2000;

export function App({ store }: { store: Store }) {
  const element = useRef<HTMLDivElement>(null);
  const main = useRef<HTMLDivElement>(null);
  const box = useBox(main);
  const [sizes, change] = useSizes();
  const [full, toggleFull] = useFullScreen(element);
  const clicked = useClicked(element);
  useTheme(element);
  useHeadline(element, store);
  const status = store.status.value;
  const program = store.program.value;
  const alone = store.host.layout !== "all";
  const chosen = sizes.height > 0 && !alone && !full;
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: keys that work in every pane
    <div
      ref={element}
      class={`tx-app${alone ? " tx-alone" : ""}`}
      style={chosen ? { "--tx-height": `${sizes.height}px` } : {}}
      onKeyDown={(event) => onKey(event, store, element.current)}
    >
      {status.kind === "error" && (
        <p class="tx-alert" role="alert">
          {status.message}
        </p>
      )}
      {status.kind === "loading" && <Opening picture={store.host.picture ?? ""} />}
      {program && (
        <Guarded name="Header" program={program}>
          <Header store={store} program={program} full={full} toggleFull={toggleFull} />
        </Guarded>
      )}
      <Lost store={store} program={program} />
      {program && <Untrusted store={store} program={program} />}
      <Working store={store} place={clicked} pane={store.tab.value} />
      {program && (
        <Commands
          store={store}
          program={program}
          view={element.current}
          around={{
            full,
            toggleFull,
            outlined: sizes.outline === 1,
            below: sizes.below === 1,
            keepOutline: (on) => change({ outline: on ? 1 : 0 }),
            putBelow: (on) => change({ below: on ? 1 : 0 }),
          }}
        />
      )}
      {program && (
        <Guarded name="Outcome" program={program}>
          <Outcome store={store} program={program} />
        </Guarded>
      )}
      <div
        ref={main}
        id={viewId(store)}
        class="tx-main"
        {...(isChosenByTabs(store) && { role: "tabpanel", "aria-label": "The program chosen" })}
      >
        {program && (
          <Body store={store} program={program}>
            <Columns store={store} program={program} box={box} sizes={sizes} change={change} />
          </Body>
        )}
      </div>
      {program && !alone && !full && (
        <Split
          label="Height of the view"
          along="column"
          value={element.current?.offsetHeight ?? 0}
          least={leastHeight(element.current, main.current)}
          most={MOST_HEIGHT}
          side={1}
          change={(size) => change({ height: size })}
          reset={() => change({ height: 0 })}
        />
      )}
      {/* Always there: what is put into the page together with its text is often not read. */}
      <div class="tx-hidden" role="status" aria-live="polite" data-testid="told">
        <SpokenAction store={store} />
      </div>
      <div class="tx-hidden" role="status" aria-live="polite">
        {program && (
          <Guarded name="What is selected" program={program}>
            <Spoken store={store} program={program} />
          </Guarded>
        )}
      </div>
    </div>
  );
}

/** Once another attempt is shown, brings the view's first line into sight if it was scrolled away. */
function useHeadline(element: RefObject<HTMLElement | null>, store: Store): void {
  const attempt = store.current.value;
  const shown = useRef(attempt);
  useEffect(() => {
    const view = element.current;
    const isOther = shown.current !== attempt;
    shown.current = attempt;
    if (isOther && view && view.getBoundingClientRect().top < 0) view.scrollIntoView?.();
  }, [attempt]);
}

/** The least height of the view: of everything above its panes, and of the panes. */
function leastHeight(view: HTMLElement | null, panes: HTMLElement | null): number {
  if (!view || !panes) return LEAST_HEIGHT;
  const least = Number.parseFloat(getComputedStyle(panes).minHeight) || 0;
  return Math.max(LEAST_HEIGHT, view.offsetHeight - panes.offsetHeight + least);
}

function Spoken({ store, program }: { store: Store; program: Program }) {
  return <>{spoken(program, store.selection.value, store.lit.value.nodes)}</>;
}

interface BodyProps {
  store: Store;
  program: Program;
  /** All panes together. */
  children: preact.ComponentChildren;
}

function Body({ store, program, children }: BodyProps) {
  const { layout } = store.host;
  const { failure } = program.record;
  if (failure) {
    return (
      <Failed key={store.current.value} store={store} program={program} failure={failure}>
        {children}
      </Failed>
    );
  }
  switch (layout) {
    case "all":
      return children;
    case "graph":
      return <GuardedGraph store={store} program={program} />;
    default:
      return <Detail tab={layout} store={store} program={program} />;
  }
}
