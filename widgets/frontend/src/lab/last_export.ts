/** A tab, or a part of the sidebar, that shows the view of the last export, whichever cell it is in. */

import type { View } from "../editor_link/link";
import type { CellPlace, Documents } from "./documents";
import type { Panel, Panels } from "./editor_modules";
import type { App, Widget } from "./shared_modules";
import { asHighAsTab } from "./tab_height";

export type Area = "tab" | "sidebar";

const ID = "export-explorer-last-export";
const NONE = "Run %export in a notebook to show its view here.";
const GONE = "The cell of the last export is gone. Run %export again to show its view here.";

export class LastExport {
  private panel: Panel | null = null;
  private area: Area | null = null;
  private wanted: Area | null = null;
  private last: CellPlace | null = null;

  constructor(
    private readonly app: App,
    private readonly lumino: Panels,
    private readonly documents: Documents,
  ) {}

  /** @param area where every export is shown from now on; null to show it only on demand */
  follow(area: Area | null): void {
    this.wanted = area;
    if (area === null || !this.last || this.isIn(area)) return;
    this.panel?.dispose();
    this.open(area);
  }

  /** A view came: of a cell's output, it is the last export. */
  arrived(view: View): void {
    // Its element is put into the page after this.
    requestAnimationFrame(() => {
      const place = this.documents.cellOf(view);
      if (!place) return;
      if (place.cell !== this.last?.cell) this.take(place); // a copy of an output follows its cell
      if (this.wanted && !this.panel) this.open(this.wanted);
    });
  }

  private take(place: CellPlace): void {
    this.last = place;
    place.cell.disposed.connect(() => {
      if (this.last !== place) return;
      this.last = null;
      this.fill(GONE);
    });
    this.fill(NONE);
  }

  isIn(area: Area): boolean {
    return this.panel !== null && this.area === area;
  }

  /** Moves it to an area, or hides it if it is there. */
  toggle(area: Area): void {
    const was = this.isIn(area);
    this.panel?.dispose();
    if (was) return;
    this.open(area);
    this.app.shell.activateById(ID);
  }

  private open(area: Area): void {
    const panel = new this.lumino.Panel();
    panel.id = ID;
    panel.node.style.overflow = "auto";
    const caption = "The view of the last %export";
    Object.assign(panel.title, { label: "Last export", caption, closable: true });
    const stop = asHighAsTab(panel.node, panel.node, 8);
    panel.disposed.connect(() => {
      stop();
      if (this.panel === panel) this.panel = null;
    });
    this.panel = panel;
    this.area = area;
    this.fill(NONE);
    if (area === "sidebar") this.app.shell.add(panel, "right", { rank: 900 });
    else {
      const ref = this.last?.notebook.id;
      this.app.shell.add(panel, "main", {
        mode: "split-right",
        activate: false,
        ...(ref && { ref }),
      });
    }
  }

  /** @param otherwise the message if there is no export */
  private fill(otherwise: string): void {
    if (!this.panel) return;
    for (const widget of [...this.panel.widgets]) widget.dispose();
    this.panel.addWidget(this.last?.cell.cloneOutputArea?.() ?? this.said(otherwise));
  }

  private said(text: string): Widget {
    const node = document.createElement("p");
    node.textContent = text;
    node.style.padding = "12px";
    return new this.lumino.Widget({ node });
  }
}
