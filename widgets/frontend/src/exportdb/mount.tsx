/** Mounts the browser of ExportDB and graph breaks, and below it the view of the export. */

import { effect } from "@preact/signals";
import { render } from "preact";
import type { Host } from "../host";
import type { Model } from "../jupyter_types";
import { keepKeys } from "../keep_keys";
import { LibraryHost } from "./asks";
import { Library } from "./Library";
import { LibraryStore } from "./store";

/** Returns how to take it away. `mountHost` mounts a view of attempts. */
export function mountLibrary(
  model: Model,
  el: HTMLElement,
  mountHost: (host: Host, el: HTMLElement) => () => void,
): () => void {
  const host = new LibraryHost(model);
  const store = new LibraryStore(host);
  const root = document.createElement("div");
  root.className = "tx-root tx-library-root";
  root.addEventListener("focusin", keepKeys);
  const live = document.createElement("div");
  live.className = "tx-library-live";
  live.dataset.testid = "live";
  el.append(root, live);
  render(<Library store={store} />, root);
  let unmount = (): void => {};
  const stop = effect(() => {
    const { count } = store.tried.value;
    unmount();
    unmount = count > 0 ? mountHost(host, live) : () => {};
  });
  return () => {
    stop();
    unmount();
    render(null, root);
    store.dispose();
    host.dispose();
    root.remove();
    live.remove();
  };
}
