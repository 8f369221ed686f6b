/**
 * Requests of the browser of ExportDB and graph breaks to its kernel, in addition to those of a
 * view.
 */

import { AnywidgetHost } from "../anywidget_host";
import type { LibraryAsks } from "../messages.gen";

export type Section = "cases" | "breaks";

/** A pane of the view, and what to look at there. */
export type Lookout = LibraryAsks["try"]["reply"]["lookouts"][number];

export class LibraryHost extends AnywidgetHost {
  get section(): Section {
    return this.model.get("section") === "breaks" ? "breaks" : "cases";
  }

  get query(): string {
    return String(this.model.get("query") ?? "");
  }

  /** Resolves with the reply; rejects with an Error whose message can be shown unchanged. */
  look<K extends keyof LibraryAsks>(
    kind: K,
    request: LibraryAsks[K]["request"],
  ): Promise<LibraryAsks[K]["reply"]> {
    return this.send(kind, request);
  }
}
