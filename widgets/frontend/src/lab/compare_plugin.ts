/** Two selected `.pt2` files of the file browser are compared in a tab. */

import { fillWithView, read } from "./server_view";
import type { App, Lumino, Services, Widget } from "./shared_modules";
import { shared } from "./shared_modules";

const COMMAND = "export-explorer:compare";
const ON_A_PROGRAM = '.jp-DirListing-item[data-file-type="pt2"]';

/** A file, as the file browser knows it. */
export interface BrowserFile {
  path: string;
  type: string;
  /** When it was written, in ISO 8601. */
  last_modified: string;
}

interface FileBrowsers {
  tracker: { currentWidget: { selectedItems(): Iterable<BrowserFile> } | null };
}

interface Filebrowser {
  IFileBrowserFactory: object;
}

interface Apputils {
  MainAreaWidget: new (options: { content: Widget }) => Widget;
}

export async function comparePlugin() {
  const [filebrowser, apputils, lumino, services] = await Promise.all([
    shared<Filebrowser>("@jupyterlab/filebrowser"),
    shared<Apputils>("@jupyterlab/apputils"),
    shared<Lumino>("@lumino/widgets"),
    shared<Services>("@jupyterlab/services"),
  ]);
  return {
    id: "export-explorer:compare",
    description: "Compares two .pt2 files that are selected in the file browser",
    autoStart: true,
    requires: [filebrowser.IFileBrowserFactory],
    activate(app: App, browsers: FileBrowsers) {
      let made = 0;
      const two = () => comparable(browsers.tracker.currentWidget?.selectedItems() ?? []);
      app.commands.addCommand(COMMAND, {
        label: "Compare Exported Programs",
        caption: "Shows differences between the two selected .pt2 files",
        isVisible: () => two() !== null,
        isEnabled: () => two() !== null,
        execute() {
          const pair = two();
          if (!pair) return;
          const content = new lumino.Widget();
          content.disposed.connect(filled(content.node, app, services, pair));
          const tab = new apputils.MainAreaWidget({ content });
          tab.id = `export-explorer-comparison-${++made}`;
          Object.assign(tab.title, {
            label: pair.map(nameOf).join(" → "),
            caption: pair.join(" → "),
            closable: true,
          });
          app.shell.add(tab, "main", {});
          app.shell.activateById(tab.id);
        },
      });
      app.contextMenu.addItem({ command: COMMAND, selector: ON_A_PROGRAM, rank: 4 });
    },
  };
}

/** Pure: the paths of two programs, the older file first; null if anything else is selected. */
export function comparable(selected: Iterable<BrowserFile>): [string, string] | null {
  const files = [...selected];
  const [one, other] = files;
  if (!one || !other || files.length > 2) return null;
  if (files.some(({ path, type }) => type !== "file" || !path.endsWith(".pt2"))) return null;
  const isOlder = Date.parse(one.last_modified) <= Date.parse(other.last_modified);
  return isOlder ? [one.path, other.path] : [other.path, one.path];
}

/** The comparison, and a button that takes the two the other way round. */
function filled(
  node: HTMLElement,
  app: App,
  services: Services,
  [before, after]: [string, string],
): () => void {
  const bar = document.createElement("div");
  bar.style.padding = "6px 8px";
  const swap = document.createElement("button");
  swap.type = "button";
  swap.className = "jp-Button jp-mod-styled jp-mod-minimal";
  swap.textContent = "Swap";
  swap.title = `Shows changes from ${after} to ${before}`;
  bar.append(swap, ` ${before} → ${after}`);
  let leave = fillWithView(node, app, services, {
    bar,
    name: `The comparison of ${before} and ${after}`,
    frozen: () => read(app, services, { path: after, with: before }),
  });
  swap.addEventListener("click", () => {
    leave();
    leave = filled(node, app, services, [after, before]);
  });
  return () => leave();
}

function nameOf(path: string): string {
  return path.split("/").at(-1) ?? path;
}
