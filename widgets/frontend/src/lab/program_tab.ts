/** A tab with the view of a `.pt2` file. The server reads it as data: no kernel is needed. */

import { fillWithView, read } from "./server_view";
import type { App, Context, Services } from "./shared_modules";

/** Fills a tab. Returns how to take the view away. */
export function fill(
  node: HTMLElement,
  app: App,
  services: Services,
  context: Context,
): () => void {
  const { path } = context;
  const frozen = () => context.ready.then(() => read(app, services, { path }));
  return fillWithView(node, app, services, { bar: header(app, context), name: path, frozen });
}

/** The one action of a file: go on in a notebook. */
function header(app: App, context: Context): HTMLElement {
  const bar = document.createElement("div");
  bar.style.padding = "6px 8px";
  const button = document.createElement("button");
  button.type = "button";
  button.className = "jp-Button jp-mod-styled jp-mod-minimal";
  // As the buttons of the view below it: JupyterLab's own has no border.
  Object.assign(button.style, {
    height: "28px",
    border: "1px solid var(--jp-border-color1)",
    borderRadius: "6px",
    letterSpacing: "normal",
    lineHeight: "26px",
  });
  button.textContent = "Open in a notebook";
  button.title = "Creates a notebook with a cell that loads this file";
  button.addEventListener("click", () => void openInNotebook(app, context.path));
  bar.append(button);
  return bar;
}

async function openInNotebook(app: App, path: string): Promise<void> {
  const at = path.lastIndexOf("/");
  const { kernelspecs } = app.serviceManager;
  await kernelspecs.ready;
  const made = (await app.commands.execute("notebook:create-new", {
    cwd: at < 0 ? "" : path.slice(0, at),
    kernelName: kernelspecs.specs?.default,
  })) as import("./shared_modules").Notebook;
  await made.context.ready;
  made.content.activeCell?.model.sharedModel.setSource(cellFor(path.slice(at + 1)));
}

/** Pure: the cell that opens a file; a name is a Python literal, whatever is in it. */
export function cellFor(file: string): string {
  return `import explorer\n\nex = explorer.load(${JSON.stringify(file)})\nex`;
}
