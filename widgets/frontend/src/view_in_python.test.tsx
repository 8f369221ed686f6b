import { render } from "preact";
import { act } from "preact/test-utils";
import { describe, expect, test } from "vitest";
import { Program } from "./program";
import type { Selection } from "./selection";
import { App } from "./shell/App";
import { Store } from "./store";
import { FakeHost, storeOf } from "./testing/fake_host";
import { layeredProgram, tracedRecord } from "./testing/models";
import { freshPage, page } from "./testing/page";
import { failureOf } from "./testing/records";
import { lineOfPython, scopesOf, selectionOf } from "./view_in_python";

freshPage();

describe("what is seen", () => {
  const program = new Program(tracedRecord().record());
  const selections: [string, Selection][] = [
    ["mul", { kind: "nodes", nodes: [program.nodesAt(0, 4).at(-1) ?? -1] }],
    [
      "lin",
      { kind: "scope", scope: program.record.scopes.findIndex((each) => each.path === "lin") },
    ],
    ["batch", { kind: "symbol", symbol: 0 }],
    ["Cell In[2]:3", { kind: "line", file: 0, line: 3 }],
  ];

  test("is said in a line of Python, and the names in it select the same", () => {
    for (const [name, selection] of selections) {
      expect(selectionOf(program, [name])).toEqual(selection);
      expect(lineOfPython(program, selection, [], "inspector")).toBe(
        `ex.view(select=${JSON.stringify(name)})`,
      );
    }
    expect(selectionOf(program, ["nothing like it"])).toEqual({ kind: "none" });
    expect(selectionOf(program, [])).toEqual({ kind: "none" });
  });

  test("has several ops, open modules and a pane in it", () => {
    const layered = layeredProgram(2);
    const open = scopesOf(layered, ["encoder", "encoder.layer.0", "layer.1"]);
    const selection = selectionOf(layered, ["embed", "ones"]);
    expect(lineOfPython(layered, selection, open, "runs")).toBe(
      `ex.view(select=["ones", "embed"], open=["encoder", "encoder.layer.0"], tab="runs")`,
    );
    expect(lineOfPython(layered, { kind: "none" }, [], "inspector")).toBe("ex.view()");
  });

  test("is what a line of Python asks for, once", async () => {
    const host = new FakeHost({ record: tracedRecord().record() });
    host.first = { select: ["mul"], open: ["lin"], tab: ["signature"] };
    const store = new Store(host);
    await store.show(0);
    expect(store.selection.value).toEqual(selections[0]?.[1]);
    expect(store.toOpen.value).toEqual(["lin"]);
    expect(store.tab.value).toBe("signature");
    store.clear();
    await store.show(0);
    expect(store.selection.value.kind).toBe("none");
  });

  test("is a failure in large type for a room, until it is left", async () => {
    const host = new FakeHost({ record: { ...tracedRecord().record(), failure: failureOf({}) } });
    host.first = { tab: ["teaching"] };
    const store = new Store(host);
    await store.show(0);
    await act(() => render(<App store={store} />, page));
    const large = (): boolean =>
      page.querySelector(".tx-failure")?.matches(".tx-failure-large") ?? false;
    expect(large()).toBe(true);
    const leave = [...page.querySelectorAll("button")].find((each) =>
      each.textContent?.startsWith("Exit the teaching layout"),
    );
    await act(() => leave?.click());
    expect(large()).toBe(false);
  });

  test("is graph and source alone for a room, until another pane is opened", async () => {
    const host = new FakeHost({ record: tracedRecord().record() });
    host.first = { tab: ["teaching"] };
    const store = new Store(host);
    await store.show(0);
    await act(() => render(<App store={store} />, page));
    const panes = (): string[] =>
      [...page.querySelectorAll("[data-pane]")].map(
        (each) => each.getAttribute("aria-label") ?? "",
      );
    expect(panes()).toContain("Source");
    expect(panes()).not.toContain("Outline");
    await act(() => store.open("shapes"));
    expect(store.teaching.value).toBe(false);
    expect(panes()).toContain("Outline");
    await act(() => {
      store.teaching.value = true;
    });
    expect(panes()).not.toContain("Outline");
  });
});

describe("back and forward", () => {
  const nodes = (...ids: number[]): Selection => ({ kind: "nodes", nodes: ids });

  test("go through the selections, and a new one forgets what was ahead", () => {
    const { store } = storeOf(layeredProgram(1).record);
    for (const id of [1, 2, 3]) store.select(nodes(id), "graph");
    store.select(nodes(3), "outline"); // the same again is no step
    store.back();
    store.back();
    expect(store.selection.value).toEqual(nodes(1));
    expect(store.origin.value).toBeNull(); // so that every pane follows
    store.forward();
    expect(store.selection.value).toEqual(nodes(2));
    store.clear();
    store.back();
    expect(store.selection.value).toEqual(nodes(2));
    store.select(nodes(5), "graph");
    expect(store.future.value).toEqual([]);
    store.forward();
    expect(store.selection.value).toEqual(nodes(5));
  });

  test("have keys and buttons, which are there once there is something to go to", async () => {
    const { store } = storeOf(layeredProgram(1).record);
    await act(() => render(<App store={store} />, page));
    const button = (name: string) =>
      page.querySelector<HTMLButtonElement>(`[aria-label^="${name}"]`);
    expect([button("Back to the"), button("Forward")]).toEqual([null, null]);
    await act(() => {
      store.select(nodes(1), "graph");
      store.select(nodes(2), "graph");
    });
    const press = (key: string) =>
      act(
        () =>
          void page
            .querySelector(".tx-app")
            ?.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true })),
      );
    await press("[");
    expect(store.selection.value).toEqual(nodes(1));
    await press("]");
    expect(store.selection.value).toEqual(nodes(2));
    await act(() => button("Back")?.click());
    expect(store.selection.value).toEqual(nodes(1));
    expect(button("Forward")?.disabled).toBe(false);
    expect(button("Back")?.disabled).toBe(true);
  });

  test("do not lead to nodes of another program", async () => {
    const host = new FakeHost({ record: layeredProgram(1).record });
    const store = new Store(host);
    await store.show(0);
    store.select(nodes(1), "graph");
    store.select(nodes(2), "graph");
    await store.show(1);
    expect([store.past.value, store.future.value]).toEqual([[], []]);
  });
});
