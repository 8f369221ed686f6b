/**
 * What an anywidget loads: it finds the bundle, once per page, and mounts it. One widget of the
 * kernel carries the bundle; where a host cannot look widgets up, the kernel is asked for it. Every
 * output carries this file, so it is kept small.
 */

interface Model {
  get(name: string): unknown;
  send(content: unknown): void;
  widget_manager?: { get_model(id: string): Promise<{ get(name: string): unknown }> };
  on(event: "msg:custom", callback: (content: Reply, buffers: DataView[]) => void): void;
  off(event: "msg:custom", callback: (content: Reply, buffers: DataView[]) => void): void;
}

interface Reply {
  id?: unknown;
  ok?: boolean;
  error?: string;
}

interface Bundle {
  mount(context: { model: Model; el: HTMLElement }): () => void;
}

/** Bundles by the hash of their content, shared by all widgets of the page. */
const STORE = Symbol.for("export-explorer.bundles");
const WAIT_MS = 20_000;

const shared = globalThis as unknown as Record<symbol, Map<string, Promise<Bundle>> | undefined>;

async function bundle(model: Model): Promise<Bundle> {
  shared[STORE] ??= new Map();
  const bundles = shared[STORE];
  const hash = String(model.get("bundle"));
  const known = bundles.get(hash);
  if (known) {
    try {
      return await known;
    } catch {
      // Whoever asked first got no answer, perhaps from another kernel: ask ours.
    }
  }
  const asked = fetchBundle(model);
  bundles.set(hash, asked);
  asked.catch(() => bundles.get(hash) === asked && bundles.delete(hash));
  return asked;
}

async function fetchBundle(model: Model): Promise<Bundle> {
  const source = (await carried(model)) ?? (await ask(model));
  const url = URL.createObjectURL(new Blob([source], { type: "text/javascript" }));
  try {
    return (await import(url)) as Bundle;
  } finally {
    URL.revokeObjectURL(url);
  }
}

/** The bundle as the kernel's one bundle widget carries it; it is there while the kernel is busy. */
async function carried(model: Model): Promise<DataView<ArrayBuffer> | null> {
  try {
    const holder = await model.widget_manager?.get_model(String(model.get("bundle_model")));
    const source = holder?.get("source") as DataView<ArrayBuffer> | undefined;
    return source && source.byteLength > 0 ? source : null;
  } catch {
    return null; // a host that keeps its widgets to itself
  }
}

function ask(model: Model): Promise<DataView<ArrayBuffer>> {
  return new Promise((resolve, reject) => {
    const id = `bundle-${Math.random().toString(36).slice(2)}`;
    const stop = (): void => {
      clearTimeout(timer);
      model.off("msg:custom", receive);
    };
    const receive = (content: Reply, buffers: DataView[]): void => {
      if (content.id !== id) return;
      stop();
      const source = buffers[0];
      if (content.ok && source) resolve(source as DataView<ArrayBuffer>);
      else reject(new Error(content.error ?? "The kernel sent no view. Run the cell again."));
    };
    const timer = setTimeout(() => {
      stop();
      reject(new Error("The kernel does not answer. Start it, then run the cell again."));
    }, WAIT_MS);
    model.on("msg:custom", receive);
    model.send({ id, ask: "bundle" });
  });
}

export default {
  async render({
    model,
    el,
  }: {
    model: Model;
    el: HTMLElement;
  }): Promise<(() => void) | undefined> {
    performance.mark("tx:render");
    try {
      return (await bundle(model)).mount({ model, el });
    } catch (error) {
      el.textContent = error instanceof Error ? error.message : String(error);
      return undefined;
    }
  },
};
