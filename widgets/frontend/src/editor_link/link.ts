/**
 * The link between views and the editor of the page they are in. JupyterLab's extension offers an
 * editor, once per page, and so does the page of VS Code's; every view joins it, whichever came
 * first. Where no editor is offered, a view has no action that needs one. Both sides may be of other
 * versions: they agree by `VERSION`.
 */

import type { Writing } from "../messages.gen";
import type { SourceFile } from "../record.gen";
import type { Place } from "../selection";
import type { Mark } from "./marks";

export type { Place };

export const VERSION = 1;
const HERE = Symbol.for("export-explorer.editor");
const ARRIVED = "export-explorer:editor";

/** A file or a notebook cell, as a Record names it. */
export type Source = Pick<SourceFile, "path" | "name" | "origin">;

/** A view, as an editor sees it. Files have their number in the Record on screen. */
export interface View {
  /** In the page: by it, the editor knows the notebook and the cell that show the view. */
  readonly element: HTMLElement;
  /** The path of the notebook whose kernel made it; empty if not known. */
  readonly notebook: string;
  sources(): readonly Source[];
  /** The text that was exported. Rejects with a sentence. */
  text(file: number): Promise<string>;
  /** The cursor is on this line of a file; without one, on none of its lines. */
  follow(place: Place | null): void;
  /** The failure and the findings of the program on screen that are of lines of the user's. */
  marks(): readonly Mark[];
  /** Begins to write a fix of the program on screen, by its number. */
  write(fix: number): void;
  /** Opens the line that what is selected was made by. */
  goToSource(): void;
  /** Calls back now, and when another program is on screen. Returns how to stop. */
  onChange(callback: () => void): () => void;
}

/** An editor, as a view sees it. */
export interface Editor {
  readonly version: number;
  /** Returns how to leave. */
  join(view: View): () => void;
  /** Opens a line. Rejects with a sentence if the text there is not what was exported. */
  open(view: View, place: Place): Promise<void>;
  /**
   * Shows a diff, and writes it into cells and files if it is accepted. Resolves with the names of
   * what was written. Rejects with a sentence if a text is not what was exported.
   */
  write(view: View, writing: Writing): Promise<string[]>;
}

const page = globalThis as unknown as { [HERE]?: Editor };

/** Offers the page's editor to the views that are there, and to those that will be. */
export function offerEditor(editor: Editor): void {
  page[HERE] = editor;
  window.dispatchEvent(new Event(ARRIVED));
}

/** Calls back with the editor as soon as there is one. Returns how to stop. */
export function onEditor(callback: (editor: Editor) => void): () => void {
  const look = (): void => {
    const editor = page[HERE];
    if (editor?.version === VERSION) callback(editor);
  };
  window.addEventListener(ARRIVED, look);
  look();
  return () => window.removeEventListener(ARRIVED, look);
}
