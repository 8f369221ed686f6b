/** The bundle's entry: mounts the explorer into an output cell. */

import { h, render } from "preact";
import { AnywidgetHost } from "./anywidget_host";
import { joinEditor } from "./editor_link/join";
import { mountLibrary } from "./exportdb/mount";
import { type Frozen, FrozenHost, unpack } from "./frozen_host";
import { startLayouts } from "./graph/layout";
import { mountGuide } from "./guide/mount";
import type { Host } from "./host";
import type { Model } from "./jupyter_types";
import { keepKeys } from "./keep_keys";
import { keepStill } from "./saved_state";
import { App } from "./shell/App";
import { Store } from "./store";
import style from "./style/index.css";

/**
 * Mounts a view of an anywidget's model, with the layout worker's code when it comes. Returns how to
 * take it away again.
 */
export function mount({ model, el, layout }: Mounted): () => void {
  performance.mark("tx:record-received");
  startLayouts(layout); // Graphviz starts while the record is read
  keepStill(model);
  const view = `${PAGE}-${++views}`;
  tell(model, "opened", view);
  const unmount = mountApp(model, el);
  return () => {
    unmount();
    tell(model, "closed", view);
  };
}

interface Mounted {
  model: Model;
  el: HTMLElement;
  layout: Promise<string>;
}

function mountApp(model: Model, el: HTMLElement): () => void {
  if (model.get("app") === "library") {
    addStyle(el);
    return mountLibrary(model, el, mountHost);
  }
  if (model.get("app") === "guide") {
    addStyle(el);
    return mountGuide(model, el);
  }
  const host = new AnywidgetHost(model);
  const unmount = mountHost(host, el, () => model.widget_manager?.context?.path ?? "");
  return () => {
    unmount();
    host.dispose();
  };
}

/** Identifies this load of the page. */
const PAGE = Math.random().toString(36).slice(2);
let views = 0;

/** Reports that a view was shown or closed: the kernel frees what nobody sees. */
function tell(model: Model, ask: "opened" | "closed", view: string): void {
  try {
    model.send({ ask, view, page: PAGE });
  } catch {
    // A dead kernel has nothing to free.
  }
}

/**
 * Mounts a view of the data of a page without a kernel, replacing the old content.
 *
 * @param layout the layout worker's code; by default it is imported from the folder of this module
 */
export async function mountFrozen(
  packed: string,
  el: HTMLElement,
  layout = layoutBeside(),
): Promise<() => void> {
  startLayouts(layout);
  return mountPage(await unpack(packed), el, layout);
}

/** The same of what a server has read from a file. */
export function mountPage(frozen: Frozen, el: HTMLElement, layout = layoutBeside()): () => void {
  startLayouts(layout);
  el.replaceChildren();
  return mountHost(new FrozenHost(frozen), el);
}

/** The layout worker's code, if it is in the folder of this module. */
async function layoutBeside(): Promise<string> {
  const url = new URL("layout.js", import.meta.url); // a blob has no folder
  return ((await import(/* @vite-ignore */ url.href)) as { default: string }).default;
}

/**
 * Mounts a view of any host.
 *
 * @param notebook tells the path of the notebook that a live kernel is of; empty if not known
 */
export function mountHost(host: Host, el: HTMLElement, notebook = (): string => ""): () => void {
  addStyle(el);
  const store = new Store(host);
  const root = document.createElement("div");
  root.className = "tx-root";
  root.addEventListener("focusin", keepKeys);
  el.append(root);
  render(h(App, { store }), root);
  const leave = joinEditor(store, root, notebook);
  void store.show(host.current).then(() => {
    if (host.compared >= 0) void store.compare(host.compared);
  });
  return () => {
    leave();
    render(null, root);
    store.dispose();
    root.remove();
  };
}

/** Once per document or shadow root, and again where another version's was before. */
function addStyle(el: HTMLElement): void {
  const root = el.getRootNode();
  const home = root instanceof ShadowRoot ? root : document.head;
  const there = [...home.querySelectorAll("style[data-export-explorer]")];
  if (there.some((each) => each.textContent === style)) return;
  const element = document.createElement("style");
  element.dataset.exportExplorer = "";
  element.textContent = style;
  home.append(element);
}
