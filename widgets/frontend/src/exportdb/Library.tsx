/** The browser: a list to search on one side, the open page on the other. */

import { useEffect, useRef } from "preact/hooks";
import { Empty, Prose, Waiting } from "../panes/parts/parts";
import { useSlow } from "../panes/parts/useAnswer";
import { isTyping } from "../shell/keys";
import { Tabs } from "../shell/Tabs";
import { useTheme } from "../shell/useTheme";
import { Working } from "../shell/Working";
import type { Section } from "./asks";
import { BreakList } from "./BreakList";
import { BreakText } from "./BreakText";
import { CaseList } from "./CaseList";
import { CasePage } from "./CasePage";
import type { LibraryStore } from "./store";

export function Library({ store }: { store: LibraryStore }) {
  const element = useRef<HTMLDivElement>(null);
  const section = store.section.value;
  useTheme(element);
  useEffect(() => void store.load(section), [section]);
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: a key that works everywhere inside
    <div ref={element} class="tx-library" onKeyDown={(event) => onKey(event, element.current)}>
      <header class="tx-header">
        <span class="tx-title">{section === "cases" ? "ExportDB" : "Graph breaks"}</span>
        <span class="tx-verdict">{lead(store, section)}</span>
      </header>
      <Tabs
        label="Library"
        tabs={SECTIONS}
        open={section}
        choose={(each) => {
          store.section.value = each;
        }}
      >
        <Working store={store} />
        {store.refused.value && (
          <p class="tx-alert" role="alert">
            {store.refused.value}
          </p>
        )}
        <div class="tx-library-body">
          {section === "cases" ? <Cases store={store} /> : <Breaks store={store} />}
        </div>
      </Tabs>
    </div>
  );
}

const SECTIONS: [Section, string][] = [
  ["cases", "Cases"],
  ["breaks", "Graph breaks"],
];

function lead(store: LibraryStore, section: Section): string {
  if (section === "breaks") return "torch's page on each kind of Python it cannot trace";
  return store.torch.value && `What exports, by example: the cases of torch ${store.torch.value}`;
}

function Cases({ store }: { store: LibraryStore }) {
  const cases = store.cases.value;
  if (!cases) return <NotYet store={store} what="the cases" />;
  if (cases.length === 0)
    return <Empty>This version of torch has no ExportDB. Use a newer one.</Empty>;
  const found = cases.find(({ name }) => name === store.opened.cases.value);
  return (
    <>
      <CaseList store={store} cases={cases} />
      <div class="tx-library-page" data-pane>
        {found ? (
          <CasePage key={found.name} store={store} found={found} />
        ) : (
          <Empty>Choose a case to read its source, edit it and export it live in both modes.</Empty>
        )}
      </div>
    </>
  );
}

function Breaks({ store }: { store: LibraryStore }) {
  const pages = store.pages.value;
  if (!pages) return <NotYet store={store} what="the pages" />;
  if (pages.length === 0) {
    return <Empty>This version of torch has no registry of graph breaks. Use a newer one.</Empty>;
  }
  const page = pages.find(({ name }) => name === store.opened.breaks.value);
  return (
    <>
      <BreakList store={store} />
      <div class="tx-library-page" data-pane>
        {page ? (
          <div class="tx-scroll" data-testid="break-page">
            <h2 class="tx-name">
              <Prose text={page.title} />
            </h2>
            <BreakText page={page} />
          </div>
        ) : (
          <Empty>
            Choose a graph break to read why torch stops there and what it advises. A failed strict
            export links to its page.
          </Empty>
        )}
      </div>
    </>
  );
}

/** `/` goes to the search. */
function onKey(event: KeyboardEvent, root: HTMLElement | null): void {
  if (event.key !== "/" || isTyping(event)) return;
  root?.querySelector<HTMLInputElement>("[data-search]")?.focus();
  event.preventDefault();
  event.stopPropagation();
}

/** What to say before the kernel has sent what is browsed. */
function NotYet({ store, what }: { store: LibraryStore; what: string }) {
  const slow = useSlow();
  if (store.refused.value) return <Empty>Nothing here yet.</Empty>;
  return <Waiting what={what} slow={slow} />;
}
