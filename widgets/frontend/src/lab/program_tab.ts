/** A tab with the view of a `.pt2` file. The server reads it as data: no kernel is needed. */

import { reasonOf } from "../format";
import type { Frozen } from "../messages.gen";
import { ask } from "./server";
import type { App, Context, Services } from "./shared_modules";

interface FrontEnd {
  mountPage(frozen: Frozen, el: HTMLElement): () => void;
}

let frontEnd: Promise<FrontEnd> | undefined;

/** Fills a tab, and keeps the view as high as the tab is. Returns how to take the view away. */
export function fill(
  node: HTMLElement,
  app: App,
  services: Services,
  context: Context,
): () => void {
  let unmount = () => {};
  let closed = false;
  const home = document.createElement("div");
  node.replaceChildren(header(app, context), home);
  node.style.cssText += "overflow: auto; background: var(--jp-layout-color1);";
  home.style.padding = "0 8px";
  home.textContent = "Reading the file …";
  const observer = new ResizeObserver(() => {
    home.style.setProperty("--tx-height", `${Math.max(node.clientHeight - 52, 300)}px`);
  });
  observer.observe(node);
  context.ready
    .then(() => Promise.all([read(app, services, context.path), loaded(app, services)]))
    .then(([frozen, { mountPage }]) => {
      if (!closed) unmount = mountPage(frozen, home);
    })
    .catch((error: unknown) => {
      home.setAttribute("role", "alert");
      home.textContent = `${context.path} cannot be shown: ${reasonOf(error)}`;
    });
  return () => {
    closed = true;
    observer.disconnect();
    unmount();
  };
}

/** The one action of a file: go on in a notebook. */
function header(app: App, context: Context): HTMLElement {
  const bar = document.createElement("div");
  bar.style.padding = "6px 8px";
  const button = document.createElement("button");
  button.type = "button";
  button.className = "jp-Button jp-mod-styled jp-mod-minimal";
  button.textContent = "Open in a notebook";
  button.title = "Makes a notebook with the cell that loads this file";
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

/** Pure: the cell that goes on from a file; a name is a Python literal, whatever is in it. */
export function cellFor(file: string): string {
  return `import explorer\n\nex = explorer.load(${JSON.stringify(file)})\nex`;
}

async function read(app: App, services: Services, path: string): Promise<Frozen> {
  const reply = await ask(app, services, `program?path=${encodeURIComponent(path)}`);
  const said = (await reply.json()) as Frozen | { refused: string };
  if ("refused" in said) throw new Error(said.refused);
  return said;
}

/** The front end, once per page. */
function loaded(app: App, services: Services): Promise<FrontEnd> {
  frontEnd ??= ask(app, services, "front-end")
    .then((reply) => reply.text())
    .then((source) => {
      const url = URL.createObjectURL(new Blob([source], { type: "text/javascript" }));
      return import(url) as Promise<FrontEnd>;
    });
  frontEnd.catch(() => {
    frontEnd = undefined; // it may be asked for again
  });
  return frontEnd;
}
