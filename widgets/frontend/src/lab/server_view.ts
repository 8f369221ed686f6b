/** A view of what the server read of files, in a tab: it is as high as the tab. */

import { reasonOf } from "../format";
import type { Frozen } from "../messages.gen";
import { ask } from "./server";
import type { App, Services } from "./shared_modules";
import { asHighAsTab } from "./tab_height";

interface FrontEnd {
  mountPage(frozen: Frozen, el: HTMLElement, layout: Promise<string>): () => void;
}

/** The modules that the server has, once per page. */
const assets = new Map<string, Promise<unknown>>();

interface Shown {
  /** Above the view. */
  bar: HTMLElement;
  /** What is shown, for a sentence: the path of a file. */
  name: string;
  frozen(): Promise<Frozen>;
}

/** Fills a tab with a bar and a view. Returns how to take the view away. */
export function fillWithView(
  node: HTMLElement,
  app: App,
  services: Services,
  { bar, name, frozen }: Shown,
): () => void {
  let unmount = () => {};
  let closed = false;
  const home = document.createElement("div");
  node.replaceChildren(bar, home);
  node.style.cssText += "overflow: auto; background: var(--jp-layout-color1);";
  home.style.padding = "0 8px";
  home.textContent = "Reading the file …";
  const stop = asHighAsTab(node, home, 52);
  const load = <Module>(asset: string) => loadAsset<Module>(app, services, asset);
  const layout = load<{ default: string }>("layout").then((module) => module.default);
  layout.catch(() => {}); // the view does without it
  Promise.all([frozen(), load<FrontEnd>("front-end")])
    .then(([held, { mountPage }]) => {
      if (!closed) unmount = mountPage(held, home, layout);
    })
    .catch((error: unknown) => {
      home.setAttribute("role", "alert");
      home.textContent = `${name} cannot be shown: ${reasonOf(error)}`;
    });
  return () => {
    closed = true;
    stop();
    unmount();
  };
}

/** The server's reading of a file, or of two: `with` is the earlier one. */
export async function read(
  app: App,
  services: Services,
  asked: { path: string; with?: string },
): Promise<Frozen> {
  const reply = await ask(app, services, `program?${new URLSearchParams(asked)}`);
  const said = (await reply.json()) as Frozen | { refused: string };
  if ("refused" in said) throw new Error(said.refused);
  return said;
}

function loadAsset<Module>(app: App, services: Services, name: string): Promise<Module> {
  const known = assets.get(name);
  if (known) return known as Promise<Module>;
  const asked = ask(app, services, name)
    .then((reply) => reply.text())
    .then((source) => {
      const url = URL.createObjectURL(new Blob([source], { type: "text/javascript" }));
      return import(url) as Promise<Module>;
    });
  assets.set(name, asked);
  asked.catch(() => assets.delete(name)); // it may be requested again
  return asked;
}
