/** A case: its topic, its source to read and edit, and the result of exporting it. */

import { capped } from "../format";
import { Fact } from "../panes/parts/parts";
import type { ExportCase } from "../record.gen";
import { CaseText } from "./CaseText";
import { Editor } from "./Editor";
import type { LibraryStore } from "./store";

interface CasePageProps {
  store: LibraryStore;
  found: ExportCase;
}

export function CasePage({ store, found }: CasePageProps) {
  const text = store.text(found);
  const edited = text !== found.source;
  const { count, name, source } = store.tried.value;
  const shown = count > 0 && name === found.name;
  const problem = store.problem.value;
  return (
    <div class="tx-scroll" data-testid="case-page">
      <h2 class="tx-name">{found.name}</h2>
      <CaseText found={found} showTag={(tag) => store.showTag(tag)} />
      <div class="tx-case-bar">
        <div class="tx-case-actions">
          <button
            type="button"
            class="tx-button tx-primary"
            data-testid="try-case"
            disabled={store.working.value !== null}
            title="Runs this code in your kernel, in its own module, and exports its call (Ctrl+Enter in the code)"
            onClick={() => void store.try(found)}
          >
            {edited ? "Export the edited code" : "Export it live"}
          </button>
          <button
            type="button"
            class="tx-button"
            disabled={!edited}
            title="Restores torch's version"
            onClick={() => store.edit(found, found.source)}
          >
            Undo the edits
          </button>
        </div>
        {shown && <Tried store={store} same={source === text} />}
        {problem && (
          <p class="tx-alert" role="alert" data-testid="case-problem">
            {problem.line > 0 && <strong>Line {problem.line}: </strong>}
            {capped(problem.sentence, 1000)}
          </p>
        )}
      </div>
      {shown && source === text && <Lookouts store={store} />}
      <Editor
        label={`Source of ${found.name}`}
        text={text}
        bad={problem?.line ?? 0}
        colour={async (given) => (await store.host.look("colour", { source: given })).lines}
        change={(next) => store.edit(found, next)}
        run={() => void store.try(found)}
      />
      <p class="tx-lead">
        You can edit the code here. It runs only when you export it, and does not see your
        variables. Ctrl+Enter exports it; Esc leaves the text.
      </p>
    </div>
  );
}

/** The result of the last export of this case, and a link to its view. */
function Tried({ store, same }: { store: LibraryStore; same: boolean }) {
  return (
    <div class="tx-tried" role="status" data-testid="tried">
      {!same && <span class="tx-lead">Result before your last edits:</span>}
      {store.host.attempts.map(({ label, outcome, verdict }, index) => (
        <span key={index} class={`tx-mark-${outcome}`} title={capped(label, 40)}>
          {capped(verdict, 300)}
        </span>
      ))}
      <button type="button" class="tx-more" onClick={(event) => goToView(event.currentTarget)}>
        Go to the view below
      </button>
    </div>
  );
}

/** Which panes below show something of note. */
function Lookouts({ store }: { store: LibraryStore }) {
  const { lookouts } = store.tried.value;
  if (lookouts.length === 0) return null;
  return (
    <section class="tx-lookouts" aria-label="What to look at">
      <p class="tx-lead">What to look at in the view below:</p>
      <dl class="tx-facts">
        {lookouts.map(([pane, text], index) => (
          <Fact key={index} name={pane}>
            {capped(text, 300)}
          </Fact>
        ))}
      </dl>
    </section>
  );
}

function goToView(from: HTMLElement): void {
  const view = from.closest(".tx-root")?.nextElementSibling;
  view?.scrollIntoView({ block: "start" });
  view?.querySelector<HTMLElement>("button, input")?.focus({ preventScroll: true });
}
