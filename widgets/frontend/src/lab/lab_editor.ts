/** JupyterLab's editor, as views see it: opens their lines, and reports the cursor. */

import { cellOf, isFixed, unfixed, whyNot } from "../editor_link/cells";
import { isSameText, lineInEditor, lineInKernel } from "../editor_link/lines_as_run";
import { type Editor, type Place, type Source, VERSION, type View } from "../editor_link/link";
import type { Writing } from "../messages.gen";
import type { CodeWriter } from "./code_writer";
import { cellsOf, type Documents, moveTo } from "./documents";
import type { NotebookPanel, SharedText, Update } from "./editor_modules";
import type { Matching } from "./matching";
import type { ReadOnlyTabs } from "./read_only_tab";
import type { Settings } from "./settings";

/** A cursor that is held down passes many lines. */
const REST_MS = 60;

export class LabEditor implements Editor {
  readonly version = VERSION;
  readonly views = new Set<View>();
  /** The view that was last used or made: what a command is about. */
  last: View | null = null;
  private changed: (arrived: View | null) => void = () => {};
  private timer: ReturnType<typeof setTimeout> | undefined;
  /** Counts cursors: one that was overtaken while a text was on its way marks nothing. */
  private moves = 0;

  constructor(
    private readonly documents: Documents,
    private readonly readOnly: ReadOnlyTabs,
    private readonly writer: CodeWriter,
    private readonly matching: Matching,
    private readonly settings: Settings,
  ) {}

  /** Calls back, with the view if one comes, whenever one comes, goes or shows another program. */
  onViews(callback: (arrived: View | null) => void): void {
    this.changed = callback;
  }

  join(view: View): () => void {
    const used = (): void => {
      this.last = view;
    };
    this.views.add(view);
    used();
    view.element.addEventListener("pointerdown", used);
    view.element.addEventListener("focusin", used);
    const stop = view.onChange(() => this.changed(null));
    this.changed(view);
    return () => {
      stop();
      view.element.removeEventListener("pointerdown", used);
      view.element.removeEventListener("focusin", used);
      this.views.delete(view);
      if (this.last === view) this.last = [...this.views].at(-1) ?? null;
      this.changed(null);
    };
  }

  write(view: View, writing: Writing): Promise<string[]> {
    return this.writer.write(view, writing);
  }

  async open(view: View, { file, line }: Place): Promise<void> {
    const source = view.sources()[file];
    if (!source) throw new Error("The program on screen has no such file.");
    const text = await view.text(file);
    const panel = this.documents.notebookOf(view);
    if (source.origin === "cell") await this.openCell(panel, source, text, line);
    else await this.openFile(panel, source, text, line);
  }

  private async openCell(
    panel: NotebookPanel | undefined,
    source: Source,
    text: string,
    line: number,
  ): Promise<void> {
    if (!panel) throw new Error(`The notebook of ${source.name} is not open.`);
    const cells = cellsOf(panel);
    const found = cellOf(cells, source, text);
    if (found.kind === "same") {
      const at = lineInEditor(cells[found.index]?.text ?? "", line);
      return this.documents.showCell(panel, found.index, at);
    }
    if (found.kind === "edited") await this.documents.showCell(panel, found.index, null);
    throw new Error(whyNot(source, found.kind));
  }

  /** The file itself if it is the user's and served; else the exported text, read-only. */
  private async openFile(
    panel: NotebookPanel | undefined,
    source: Source,
    text: string,
    line: number,
  ): Promise<void> {
    const path = unfixed(source);
    const served = source.origin === "user" ? await this.documents.served(path) : null;
    if (served === null || isFixed(source)) {
      return this.readOnly.show(source.path, source.name, text, line, panel);
    }
    const opened = await this.documents.openFile(served, panel);
    if (!isSameText(opened.content.model.sharedModel.getSource(), text)) {
      throw new Error(whyNot(source, "edited"));
    }
    moveTo(opened.content.editor, line);
  }

  /** Hears of everything that happens in an editor. */
  updated(text: SharedText, update: Update): void {
    const own = update.transactions.some((each) => each.docChanged || each.isUserEvent("select"));
    if (!own || this.views.size === 0 || !this.settings.followCursor) return;
    clearTimeout(this.timer);
    this.timer = setTimeout(() => {
      const { doc, selection } = update.state;
      const ticket = ++this.moves;
      const cursor = { text: doc.toString(), line: doc.lineAt(selection.main.head).number };
      for (const view of this.views) {
        void this.placeIn(view, text, cursor).then((place) => {
          if (place !== undefined && ticket === this.moves) view.follow(place);
        });
      }
    }, REST_MS);
  }

  /** The cursor's place in a view's sources; undefined if it is in none of them. */
  private async placeIn(
    view: View,
    shared: SharedText,
    { text, line }: { text: string; line: number },
  ): Promise<Place | null | undefined> {
    const file = await this.matching.fileIn(view, shared, text);
    return typeof file === "number" ? { file, line: lineInKernel(text, line) } : file;
  }
}
