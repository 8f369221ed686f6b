/** Which of a view's sources an editor shows: only the exported text counts. */

import { unfixed } from "../editor_link/cells";
import { isSameText } from "../editor_link/lines_as_run";
import type { Source, View } from "../editor_link/link";
import type { Documents } from "./documents";
import type { SharedText } from "./editor_modules";
import type { ReadOnlyTabs } from "./read_only_tab";

export class Matching {
  constructor(
    private readonly documents: Documents,
    private readonly readOnly: ReadOnlyTabs,
  ) {}

  /**
   * The number of a source of a view.
   *
   * @param shared where it would be
   * @param text what is there
   * @returns null if the text is not one of them, undefined if it does not concern the view
   */
  async fileIn(view: View, shared: SharedText, text: string): Promise<number | null | undefined> {
    const belongs = this.belongs(view, shared);
    if (!belongs) return undefined;
    for (const [file, source] of view.sources().entries()) {
      if (!(await belongs(source))) continue;
      const exported = await view.text(file).catch(() => null); // a text that is gone matches none
      if (exported !== null && isSameText(exported, text)) return file;
    }
    return null;
  }

  /** Whether a source would be in this place; undefined where none of the view's would. */
  private belongs(
    view: View,
    shared: SharedText,
  ): ((source: Source) => boolean | Promise<boolean>) | undefined {
    const shown = this.readOnly.pathOf(shared);
    if (shown !== null) return ({ path }) => path === shown;
    const where = this.documents.where(shared);
    if (!where) return undefined;
    if ("notebook" in where) {
      const own = where.notebook === this.documents.notebookOf(view);
      return own ? ({ origin }) => origin === "cell" : undefined;
    }
    return async (source) =>
      source.origin === "user" && (await this.documents.served(unfixed(source))) === where.file;
  }
}
