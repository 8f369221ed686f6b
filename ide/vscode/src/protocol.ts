/** The messages between the page of a program and the extension. */

import type { Source } from "../../../widgets/frontend/src/editor_link/link";
import type { Place } from "../../../widgets/frontend/src/selection";

export type { Place };

/** A source of the program on screen, with the text that was exported; null where it is not known. */
export interface ExportedSource extends Source {
  text: string | null;
}

/** Remedies of a failure; each is a button. */
export type Cure = "retry" | "select-python" | "settings";

export type ToPage =
  /** `page` is `messages.Frozen` as JSON; `frontEnd` the address of the module that draws it. */
  | { kind: "show"; frontEnd: string; page: string }
  | { kind: "failed"; sentence: string; command: string; cures: readonly Cure[] }
  | { kind: "follow"; place: Place | null }
  /** The end of the page's request with this number; why it was refused, or empty. */
  | { kind: "done"; id: number; refused: string };

export type ToExtension =
  | { kind: "ready" }
  | { kind: "sources"; sources: readonly ExportedSource[] }
  | { kind: "open"; id: number; place: Place }
  | { kind: "cure"; cure: Cure };
