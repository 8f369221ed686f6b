/** What the browser of ExportDB and graph breaks asks its kernel, beside what any view does. */

import { AnywidgetHost } from "../anywidget_host";
import type { TokenLine } from "../host";
import type { ExportCase, GraphBreakPage } from "../record.gen";

export type Section = "cases" | "breaks";

/** A pane of the view, and what is to be seen there. */
export type Lookout = [pane: string, text: string];

export interface LibraryAsks {
  /** All cases, and the version of torch that they are of. */
  cases: { request: object; reply: { cases: ExportCase[]; torch: string } };
  breaks: { request: object; reply: { pages: GraphBreakPage[] } };
  /** Colours Python. Nothing is run. */
  colour: { request: { source: string }; reply: { lines: TokenLine[] } };
  /**
   * Runs the text of a case and exports its call in both modes; the host's attempts are those of it
   * then. A text that cannot be run is a problem, with its line, or 0.
   */
  try: {
    request: { name: string; source: string };
    reply: { problem: string; line: number; lookouts: Lookout[] };
  };
}

export class LibraryHost extends AnywidgetHost {
  get section(): Section {
    return this.model.get("section") === "breaks" ? "breaks" : "cases";
  }

  get query(): string {
    return String(this.model.get("query") ?? "");
  }

  /** Resolves with the reply; rejects with an Error whose message can be shown as it is. */
  look<K extends keyof LibraryAsks>(
    kind: K,
    request: LibraryAsks[K]["request"],
  ): Promise<LibraryAsks[K]["reply"]> {
    return this.send(kind, request);
  }
}
