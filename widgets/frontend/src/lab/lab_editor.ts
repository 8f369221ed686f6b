/** JupyterLab's editor, as views know it: opens their lines, and tells them where the cursor is. */

import { cellOf, isFixed, unfixed, whyNot } from "../editor_link/cells";
import { isSameText, lineInEditor, lineInKernel } from "../editor_link/lines_as_run";
import { type Editor, type Place, type Source, VERSION, type View } from "../editor_link/link";
import type { Writing } from "../messages.gen";
import type { CodeWriter } from "./code_writer";
import { cellsOf, type Documents, moveTo } from "./documents";
import type { NotebookPanel, SharedText, Update } from "./editor_modules";
import type { ReadOnlyTabs } from "./read_only_tab";

/** A cursor that is held down passes many lines. */
const REST_MS = 60;

export class LabEditor implements Editor {
  readonly version = VERSION;
  private readonly views = new Set<View>();
  private timer: ReturnType<typeof setTimeout> | undefined;
  /** Counts cursors: one that was overtaken while a text was on its way marks nothing. */
  private moves = 0;

  constructor(
    private readonly documents: Documents,
    private readonly readOnly: ReadOnlyTabs,
    private readonly writer: CodeWriter,
  ) {}

  join(view: View): () => void {
    this.views.add(view);
    return () => void this.views.delete(view);
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

  /** The file itself where it is the user's and served; else what was exported, to be read. */
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
    if (!own || this.views.size === 0) return;
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

  /** Where a cursor is among a view's sources; undefined where it has nothing to do with them. */
  private async placeIn(
    view: View,
    text: SharedText,
    cursor: { text: string; line: number },
  ): Promise<Place | null | undefined> {
    const where = this.documents.where(text);
    const shown = this.readOnly.pathOf(text);
    let belongs = (_: Source, __: string | null): boolean => false;
    if (shown !== null) belongs = ({ path }) => path === shown;
    else if (where && "notebook" in where) {
      if (where.notebook !== this.documents.notebookOf(view)) return undefined;
      belongs = ({ origin }) => origin === "cell";
    } else if (where) belongs = (_, served) => served === where.file;
    else return undefined;
    for (const [file, source] of view.sources().entries()) {
      const served = source.origin === "user" ? await this.documents.served(unfixed(source)) : null;
      if (!belongs(source, served)) continue;
      const exported = await view.text(file).catch(() => null); // a text that is gone matches none
      if (exported !== null && isSameText(exported, cursor.text)) {
        return { file, line: lineInKernel(cursor.text, cursor.line) };
      }
    }
    return null;
  }
}
