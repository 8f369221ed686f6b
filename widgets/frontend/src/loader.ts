/**
 * The module that anywidget loads: it gets the bundle, once per page, and mounts it; the layout worker
 * is got beside it, and not waited for. One widget of the kernel carries both; where a host cannot
 * look up widgets, the kernel is asked for them.
 * Until it arrives, or if no kernel answers, a static picture is shown. Every output, and perhaps
 * every saved notebook, contains this file, so it is kept small.
 */

interface Model {
  get(name: string): unknown;
  send(content: unknown): void;
  widget_manager?: { get_model(id: string): Promise<Known> };
  on(event: "msg:custom", callback: (content: Reply, buffers: DataView[]) => void): void;
  off(event: "msg:custom", callback: (content: Reply, buffers: DataView[]) => void): void;
}

/** A model as the page's manager of widgets knows it. */
interface Known {
  comm_live?: boolean;
  get?(name: string): unknown;
}

interface Reply {
  id?: unknown;
  ok?: boolean;
  error?: string;
}

interface Bundle {
  mount(context: { model: Model; el: HTMLElement; layout: Promise<string> }): () => void;
}

/** The layout worker: its code, as text. */
interface Layout {
  default: string;
}

/** The modules that the kernel sends: a trait of the widget that carries them, or requested by it. */
type Asset = "bundle" | "layout";

/** What is seen while no kernel answers. */
interface Still {
  text?: unknown;
  /** An SVG document. */
  picture?: unknown;
}

/** Assets by name and the hash of their content, shared by all widgets of the page. */
const STORE = Symbol.for("export-explorer.bundles");
/** How long a widget waits for another one's request before it makes its own. */
const PATIENCE_MS = 4000;
/** After this the page shows what it is waiting for. */
const SILENCE_MS = 1500;
const WAITING =
  "Waiting for the kernel to send the view. If it has stopped, start it and run the cell again.";
const STILL =
  "A static picture: the kernel that drew it is gone. Run the cell again to explore it.";

const shared = globalThis as unknown as Record<symbol, Map<string, Promise<unknown>> | undefined>;

async function get<Module>(asset: Asset, model: Model): Promise<Module> {
  shared[STORE] ??= new Map();
  const assets = shared[STORE];
  const key = `${asset} ${model.get("bundle")}`;
  const known = assets.get(key);
  if (known) {
    // The first requester may get no answer: its kernel may be gone, ours is not.
    const found = await Promise.race([known.catch(() => null), later(PATIENCE_MS)]);
    if (found) return found as Module;
  }
  const asked = load(asset, model);
  assets.set(key, asked);
  asked.catch(() => assets.get(key) === asked && assets.delete(key));
  return asked as Promise<Module>;
}

const later = (ms: number): Promise<null> =>
  new Promise((resolve) => setTimeout(() => resolve(null), ms));

async function load(asset: Asset, model: Model): Promise<unknown> {
  const source = (await carried(asset, model)) ?? (await ask(asset, model));
  const url = URL.createObjectURL(new Blob([source], { type: "text/javascript" }));
  try {
    return await import(url);
  } catch (error) {
    if (error instanceof SyntaxError) throw error;
    return await import(await dataUrl(source)); // a page that forbids blob: scripts
  } finally {
    URL.revokeObjectURL(url);
  }
}

function dataUrl(source: DataView<ArrayBuffer>): Promise<string> {
  return new Promise((resolve) => {
    const reader = new FileReader();
    reader.onload = () => resolve(String(reader.result));
    reader.readAsDataURL(new Blob([source], { type: "text/javascript" }));
  });
}

/**
 * An asset as the kernel's one bundle widget carries it; it is there while the kernel is busy.
 */
async function carried(asset: Asset, model: Model): Promise<DataView<ArrayBuffer> | null> {
  try {
    const holder = await model.widget_manager?.get_model(String(model.get("bundle_model")));
    const source = holder?.get?.(asset) as DataView<ArrayBuffer> | undefined;
    return source && source.byteLength > 0 ? source : null;
  } catch {
    return null; // a host that keeps its widgets to itself
  }
}

/** Waits as long as it takes: a busy kernel answers once it has run what it is running. */
function ask(asset: Asset, model: Model): Promise<DataView<ArrayBuffer>> {
  return new Promise((resolve, reject) => {
    const id = `${asset}-${Math.random().toString(36).slice(2)}`;
    const receive = (content: Reply, buffers: DataView[]): void => {
      if (content.id !== id) return;
      model.off("msg:custom", receive);
      const source = buffers[0];
      if (content.ok && source) resolve(source as DataView<ArrayBuffer>);
      else
        reject(new Error(content.error ?? "The kernel did not send the view. Run the cell again."));
    };
    model.on("msg:custom", receive);
    model.send({ id, ask: asset });
  });
}

/** Whether a model comes from a saved notebook, without a kernel. */
async function isSaved(model: Model): Promise<boolean> {
  try {
    const own = String(model.get("own") ?? "");
    return (await model.widget_manager?.get_model(own))?.comm_live === false;
  } catch {
    return false; // a host that keeps its widgets to itself
  }
}

/**
 * The picture as an image and the text as text: whatever is in them is not run. They are of a file
 * that anyone may have edited, so what is not a string is left out.
 */
function showStill(model: Model, el: HTMLElement, note: string): void {
  const { text, picture } = (model.get("still") as Still | undefined) ?? {};
  const parts: HTMLElement[] = [];
  const add = (tag: "p" | "pre", shown: unknown): void => {
    const part = document.createElement(tag);
    part.textContent = typeof shown === "string" ? shown : "";
    if (part.textContent) parts.push(part);
  };
  add("pre", text);
  if (picture && typeof picture === "string") {
    const image = document.createElement("img");
    image.alt = "The graph's top level";
    image.style.maxWidth = "100%";
    image.src = `data:image/svg+xml,${encodeURIComponent(picture.replace(/\p{Cs}/gu, "\ufffd"))}`;
    parts.push(image);
  }
  add("p", note);
  el.replaceChildren(...parts);
}

interface Place {
  model: Model;
  el: HTMLElement;
}

export default {
  async render({ model, el }: Place): Promise<(() => void) | undefined> {
    performance.mark("tx:render");
    if (await isSaved(model)) {
      showStill(model, el, STILL);
      return undefined;
    }
    const timer = setTimeout(() => showStill(model, el, WAITING), SILENCE_MS);
    try {
      const bundle = get<Bundle>("bundle", model);
      const layout = get<Layout>("layout", model).then((module) => module.default);
      layout.catch(() => {}); // the view does without it
      const { mount } = await bundle;
      clearTimeout(timer);
      el.textContent = "";
      return mount({ model, el, layout });
    } catch (error) {
      clearTimeout(timer);
      showStill(model, el, error instanceof Error ? error.message : String(error));
      return undefined;
    }
  },
};
