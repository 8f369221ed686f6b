import { expect, test, vi } from "vitest";
import type { Notebook } from "./jupyter_types";
import { keepStill } from "./saved_state";
import { FakeModel } from "./testing/fake_model";

const STATE = "application/vnd.jupyter.widget-state+json";
const VIEW = "application/vnd.jupyter.widget-view+json";

const listed = <T>(all: T[]) => ({ length: all.length, get: (at: number) => all[at] as T });

/** A notebook whose outputs show these models; `save` is what JupyterLab does first. */
function notebookOf(ids: string[], metadata: { [key: string]: unknown } = {}) {
  const slots: ((sender: unknown, state: string) => void)[] = [];
  const outputs = (): object => listed(ids.map((id) => ({ data: { [VIEW]: { model_id: id } } })));
  let written = 0;
  const notebook = {
    saveState: { connect: (slot: (typeof slots)[number]) => slots.push(slot) },
    model: {
      get cells() {
        return listed([{}, { outputs: outputs() }]);
      },
      getMetadata: (key: string) => metadata[key],
      setMetadata: (key: string, value: unknown) => {
        written += 1;
        metadata[key] = value;
      },
    },
  };
  const states = (): { [id: string]: { state: object } } =>
    (metadata.widgets as { [mime: string]: { state: never } })?.[STATE]?.state ?? {};
  const save = (): void => {
    for (const slot of slots) slot(null, "started");
  };
  return { notebook: notebook as unknown as Notebook, save, states, written: () => written };
}

function live(id: string, notebook: Notebook): FakeModel {
  const traits = {
    own: id,
    still: { text: id },
    _esm: "code",
    bundle_model: "front",
    record: "bytes",
    _model_name: "M",
  };
  return Object.assign(new FakeModel(traits), { widget_manager: { context: notebook } });
}

test("a notebook that is saved keeps the static picture of each view, and no Record", () => {
  const { notebook, save, states } = notebookOf(["one", "two"]);
  keepStill(live("one", notebook) as never);
  keepStill(live("two", notebook) as never);
  keepStill(live("gone", notebook) as never);
  expect(states()).toEqual({});
  save();
  expect(Object.keys(states())).toEqual(["one", "two"]);
  expect(states().one).toMatchObject({ model_name: "M", state: { still: { text: "one" } } });
  expect(JSON.stringify(states())).not.toContain("bytes");
});

test("a notebook that was closed before its views are learned says nothing", async () => {
  const { notebook } = notebookOf(["one"]);
  const get_model = vi.fn();
  keepStill(
    Object.assign(live("one", notebook), {
      widget_manager: { context: notebook, get_model },
    }) as never,
  );
  Object.defineProperty(notebook.model, "cells", { get: () => null });
  await new Promise((done) => setTimeout(done, 400));
  expect(get_model).not.toHaveBeenCalled();
});

test("others' state stays; of ours, what no output shows goes; nothing is written twice", () => {
  const theirs = { model_name: "IntSlider", state: { value: 3 } };
  const old = { model_name: "M", state: { still: {} } };
  const front = { model_name: "WidgetModel", state: { source: "the whole front end" } };
  const all = { state: { theirs, old, front }, version_major: 2, version_minor: 0 };
  const { notebook, save, states, written } = notebookOf(["one"], { widgets: { [STATE]: all } });
  keepStill(live("one", notebook) as never);
  save();
  expect(Object.keys(states())).toEqual(["theirs", "one"]);
  expect(states().theirs).toBe(theirs);
  save();
  expect(written()).toBe(1);
});

test.each([
  [null],
  ["text"],
  [{ [STATE]: null }],
  [{ [STATE]: { version_major: 2 } }],
  [{ [STATE]: { state: { a: null, b: 3, c: { state: "still" }, d: { state: null } } } }],
  [{ [STATE]: { state: ["a"] } }],
])("metadata in another form, %j, keeps no picture from being saved", (widgets) => {
  const { notebook, save, states } = notebookOf(["one"], { widgets });
  keepStill(live("one", notebook) as never);
  save();
  expect(states().one).toMatchObject({ model_name: "M" });
});

test("where there is no notebook to write to, nothing happens", () => {
  keepStill(new FakeModel({ own: "x" }) as never);
});

test("a view that was not drawn before the notebook is saved is kept, too", async () => {
  const { notebook, save, states } = notebookOf(["one", "two", "strange"]);
  const two = live("two", notebook);
  const strange = new FakeModel({ _model_name: "Slider" });
  const held = new Map([
    ["two", two],
    ["strange", strange],
  ]);
  const one = live("one", notebook);
  const manager = {
    context: notebook,
    get_model: async (id: string) => held.get(id),
  };
  Object.assign(one, { widget_manager: manager });
  keepStill(one as never);
  await expect
    .poll(() => {
      save();
      return Object.keys(states());
    })
    .toEqual(["one", "two"]);
});
