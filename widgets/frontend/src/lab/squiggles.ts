/** Squiggles in editors of CodeMirror's: decorations, and their tooltips. */

import type { Mark } from "../editor_link/marks";
import type { CodeMirrorState, CodeMirrorView, EditorView, SharedText } from "./editor_modules";

/** A mark in an editor's text. */
export interface Squiggle {
  from: number;
  to: number;
  mark: Mark;
  /** Begins to write the mark's fix; null if it has none. */
  fix: (() => void) | null;
}

const STYLE = `
.tx-squiggle { text-decoration: underline wavy var(--jp-error-color1) 1px; text-decoration-skip-ink: none; text-underline-offset: 3px; }
.tx-squiggle-warning { text-decoration-color: var(--jp-warn-color1); }
.tx-squiggle-info { text-decoration-color: var(--jp-info-color1); }
.tx-squiggle-tip { max-width: 440px; padding: 6px 10px; color: var(--jp-ui-font-color1); background: var(--jp-layout-color1); border: 1px solid var(--jp-border-color1); font-family: var(--jp-ui-font-family); font-size: var(--jp-ui-font-size1); white-space: normal; }
.tx-squiggle-tip p { margin: 4px 0; }
`;

export class Squiggles {
  /** Per text, its editors that are on screen. */
  private readonly editors = new Map<SharedText, Set<EditorView>>();
  private readonly field;
  private readonly put;

  /** @param changed called when an editor comes, or its text or its cell's state is another */
  constructor(
    state: CodeMirrorState,
    private readonly view: CodeMirrorView,
    private readonly changed: () => void,
  ) {
    const put = state.StateEffect.define<readonly Squiggle[]>();
    this.put = put;
    this.field = state.StateField.define<readonly Squiggle[]>({
      create: () => [],
      update: (held, transaction) => {
        for (const effect of transaction.effects) if (effect.is(put)) return effect.value;
        return transaction.docChanged ? [] : held;
      },
      provide: (field) =>
        view.EditorView.decorations.from(field, (held: readonly Squiggle[]) =>
          view.Decoration.set(
            held.map(({ from, to, mark }) =>
              view.Decoration.mark({
                class: `tx-squiggle tx-squiggle-${mark.severity}`,
              }).range(from, to),
            ),
            true,
          ),
        ),
    });
    const style = document.createElement("style");
    style.textContent = STYLE;
    document.head.append(style);
  }

  /** The extension of an editor of a text. */
  extension(text: SharedText): object {
    const { ViewPlugin, hoverTooltip } = this.view;
    return [
      this.field,
      ViewPlugin.define((view) => {
        const leave = this.enter(text, view);
        return { destroy: leave };
      }),
      hoverTooltip((view, at) => {
        const found = view.state.field(this.field).filter(({ from, to }) => from <= at && at <= to);
        const [first] = found;
        if (!first) return null;
        return { pos: first.from, end: first.to, above: true, create: () => ({ dom: tip(found) }) };
      }),
    ];
  }

  texts(): Iterable<SharedText> {
    return this.editors.keys();
  }

  /** Marks in the editors of a text that are on screen. */
  in(text: SharedText): readonly Squiggle[] {
    const [view] = this.editors.get(text) ?? [];
    return view?.state.field(this.field) ?? [];
  }

  show(text: SharedText, squiggles: readonly Squiggle[]): void {
    for (const view of this.editors.get(text) ?? []) {
      const held = view.state.field(this.field);
      if (held.length === 0 && squiggles.length === 0) continue;
      view.dispatch({ effects: this.put.of(squiggles) });
    }
  }

  private enter(text: SharedText, view: EditorView): () => void {
    const views = this.editors.get(text) ?? new Set();
    this.editors.set(text, views.add(view));
    text.changed?.connect(this.changed);
    this.changed();
    return () => {
      views.delete(view);
      if (views.size > 0) return;
      this.editors.delete(text);
      text.changed?.disconnect(this.changed);
    };
  }
}

/** What is seen over squiggles; only ever set as text. */
function tip(found: readonly Squiggle[]): HTMLElement {
  const dom = document.createElement("div");
  dom.className = "tx-squiggle-tip";
  for (const { mark, fix } of found) {
    const title = document.createElement("strong");
    title.textContent = mark.title;
    const sentence = document.createElement("p");
    sentence.textContent = mark.sentence.replaceAll("`", "");
    dom.append(title, sentence);
    if (!fix) continue;
    const cure = document.createElement("p");
    cure.textContent = mark.fix?.title.replaceAll("`", "") ?? "";
    const button = document.createElement("button");
    button.type = "button";
    button.className = "jp-Button jp-mod-styled jp-mod-accept";
    button.textContent = "Apply to my code…";
    button.addEventListener("click", fix);
    dom.append(cure, button);
  }
  return dom;
}
