/**
 * The state of a view in a saved notebook. JupyterLab saves either no widget state or all of it;
 * without any, a notebook opened without its kernel says "model not found". So on every save, the
 * few traits that draw a static picture are written into the notebook's metadata.
 */

import type { Model, Notebook, WidgetManager } from "./jupyter_types";

const STATE = "application/vnd.jupyter.widget-state+json";
const VIEW = "application/vnd.jupyter.widget-view+json";
/** A notebook's content changes many times at once. */
const SETTLED_MS = 300;
/** Data that the loader needs for a static picture, and that the page needs to load the loader. */
const KEPT = [
  "_model_module",
  "_model_module_version",
  "_model_name",
  "_view_module",
  "_view_module_version",
  "_view_name",
  "_esm",
  "_anywidget_id",
  "bundle",
  "still",
  "own",
] as const;

interface State {
  model_module: unknown;
  model_module_version: unknown;
  model_name: unknown;
  state: { [name: string]: unknown };
}

interface Stored {
  version_major: number;
  version_minor: number;
  state: { [id: string]: State };
}

/** Per notebook, the models of its views that were live in this page, by their ids. */
const known = new WeakMap<Notebook, Map<string, Model>>();

/** From now on, a notebook that is saved has a static picture of this model's views. */
export function keepStill(model: Model): void {
  const notebook = model.widget_manager?.context;
  const id = String(model.get("own") ?? "");
  if (!notebook?.model?.getMetadata || !notebook.saveState || !id) return;
  let models = known.get(notebook);
  if (!models) {
    models = new Map();
    known.set(notebook, models);
    const all = models;
    const manager = model.widget_manager;
    let due = false;
    const soon = (): void => {
      if (due) return;
      due = true;
      setTimeout(() => {
        due = false;
        void learn(notebook, manager, all);
      }, SETTLED_MS);
    };
    notebook.model.contentChanged?.connect(soon);
    soon();
    notebook.saveState.connect((_, state) => {
      if (state === "started") store(notebook, all);
    });
  }
  models.set(id, model);
}

/** Notes the models of views that the notebook holds and has not drawn yet: it draws what is near. */
async function learn(
  notebook: Notebook,
  manager: WidgetManager | undefined,
  models: Map<string, Model>,
): Promise<void> {
  for (const id of shownIn(notebook)) {
    if (models.has(id) || !manager?.get_model) continue;
    try {
      const model = await manager.get_model(id);
      if (String(model.get("own") ?? "") === id) models.set(id, model);
    } catch {
      // The kernel is gone, but its saved state stays.
    }
  }
}

/**
 * Writes the state of all our models that an output shows, and drops that of those which none does.
 */
function store(notebook: Notebook, models: ReadonlyMap<string, Model>): void {
  const shown = shownIn(notebook);
  const widgets = (asObject(notebook.model.getMetadata("widgets")) ?? {}) as {
    [mime: string]: Stored;
  };
  const kept = asObject(widgets[STATE]) as Partial<Stored> | null;
  const states = (asObject(kept?.state) ?? {}) as Stored["state"];
  const before = { version_major: 2, version_minor: 0, ...kept, state: states };
  // Where the user saves all widget state, the front end's bundle is left out: it is by far the
  // largest part.
  const carriers = new Set([...models.values()].map((model) => model.get("bundle_model")));
  const state: { [id: string]: State } = {};
  for (const [id, each] of Object.entries(before.state)) {
    const ours = "still" in (asObject(asObject(each)?.state) ?? {}) || carriers.has(id);
    if (shown.has(id) || !ours) state[id] = each;
  }
  for (const [id, model] of models) if (shown.has(id)) state[id] = stateOf(model);
  if (JSON.stringify(state) === JSON.stringify(before.state)) return;
  notebook.model.setMetadata("widgets", { ...widgets, [STATE]: { ...before, state } });
}

/** An object of the metadata, which anyone may have edited; null for anything else. */
function asObject(value: unknown): { readonly [name: string]: unknown } | null {
  return typeof value === "object" && value !== null && !Array.isArray(value)
    ? (value as { readonly [name: string]: unknown })
    : null;
}

function stateOf(model: Model): State {
  const state = Object.fromEntries(KEPT.map((name) => [name, model.get(name)]));
  return {
    model_module: state._model_module,
    model_module_version: state._model_module_version,
    model_name: state._model_name,
    state,
  };
}

/** The ids of all models that the outputs of a notebook show; none of one that was closed. */
function shownIn({ model: { cells } }: Notebook): Set<string> {
  const found = new Set<string>();
  if (cells === null) return found;
  for (let cell = 0; cell < cells.length; cell++) {
    const outputs = cells.get(cell).outputs;
    for (let at = 0; at < (outputs?.length ?? 0); at++) {
      const view = outputs?.get(at).data?.[VIEW] as { model_id?: unknown } | undefined;
      if (view) found.add(String(view.model_id));
    }
  }
  return found;
}
