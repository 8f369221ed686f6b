import { render } from "preact";
import { act } from "preact/test-utils";
import { afterEach, beforeEach, expect, test } from "vitest";
import { Program } from "../program";
import { spoken } from "../spoken_selection";
import { type FakeHost, storeOf } from "../testing/fake_host";
import { smallProgram, tracedRecord } from "../testing/models";
import { Header } from "./Header";
import { onKey } from "./keys";
import { Split } from "./Split";
import { SpokenAction } from "./SpokenAction";
import { DEFAULTS, remembered } from "./sizes";
import { neighbour } from "./Tabs";
import { luminance, parseColour } from "./theme";
import { Untrusted } from "./Untrusted";

const page = document.createElement("div");
document.body.append(page);
beforeEach(() => localStorage.clear());
afterEach(() => render(null, page));

const key = (element: Element | null, name: string): Promise<void> =>
  act(
    () => void element?.dispatchEvent(new KeyboardEvent("keydown", { key: name, bubbles: true })),
  );

test("a bar moves by its own arrows, within its bounds", async () => {
  let width = 200;
  const draw = (): void =>
    render(
      <Split
        label="Width"
        along="row"
        value={width}
        least={180}
        most={240}
        side={1}
        change={(size) => {
          width = size;
          draw();
        }}
        reset={() => undefined}
      />,
      page,
    );
  await act(draw);
  const bar = page.querySelector("[role=separator]");
  await key(bar, "ArrowRight");
  expect(width).toBe(224);
  await key(bar, "ArrowUp");
  expect(width).toBe(224);
  await key(bar, "ArrowRight");
  expect(width).toBe(240);
  await key(bar, "Home");
  expect(width).toBe(180);
  expect(bar?.getAttribute("aria-valuenow")).toBe("180");
});

test("sizes that were remembered come back, and nonsense does not", () => {
  localStorage.setItem("export-explorer.sizes", JSON.stringify({ left: 300, right: "wide", x: 1 }));
  expect(remembered()).toEqual({ ...DEFAULTS, left: 300 });
  localStorage.setItem("export-explorer.sizes", "not json");
  expect(remembered()).toEqual(DEFAULTS);
});

test("arrows go round a row of tabs", () => {
  expect(neighbour(["a", "b", "c"], "c", "ArrowRight")).toBe("a");
  expect(neighbour(["a", "b", "c"], "a", "ArrowLeft")).toBe("c");
  expect(neighbour(["a", "b", "c"], "b", "End")).toBe("c");
  expect(neighbour(["a", "b", "c"], "b", "x")).toBeUndefined();
});

test("a colour that hides nothing says nothing of the theme", () => {
  expect(parseColour("rgba(0, 0, 0, 0)")).toBeNull();
  expect(parseColour("transparent")).toBeNull();
  expect(luminance(parseColour("rgb(17, 17, 17)") ?? [255, 255, 255])).toBeLessThan(0.1);
  expect(luminance(parseColour("rgb(255, 255, 255)") ?? [0, 0, 0])).toBeCloseTo(1);
});

test("a page whose colours are not of sRGB is light or dark by their lightness", () => {
  const lightness = (text: string): number => luminance(parseColour(text) ?? [-1, -1, -1]);
  for (const white of ["oklch(1 0 0)", "lab(100 0 0)", "oklab(1 0 -1e-7)", "color(srgb 1 1 1)"])
    expect(lightness(white)).toBeCloseTo(1);
  for (const dark of ["oklch(0.14 0.004 49.2)", "lab(2.7 0.1 -0.2)", "color(display-p3 0 0 0)"])
    expect(Math.abs(lightness(dark))).toBeLessThan(0.2);
  expect(parseColour("oklch(1 0 0 / 0.1)")).toBeNull();
});

test("what is selected is said in words", () => {
  const program = smallProgram();
  const say = (nodes: number[]): string =>
    spoken(program, { kind: "nodes", nodes }, new Set(nodes));
  expect(spoken(program, { kind: "none" }, new Set())).toBe("");
  expect(say([3])).toBe("linear: linear, f32[batch, 6], in lin");
  expect(say([0])).toBe("lin.weight: parameter, f32[6, 4]");
  expect(say([3, 4])).toBe("2 ops selected");
});

test("warnings and printed text are one press away, and Escape puts them away", async () => {
  const record = {
    ...tracedRecord().record(),
    warnings: ["mind the step"],
    left_out: ["no lines today"],
    printed: "hello",
  };
  const { store, program } = storeOf(record);
  const header = <Header store={store} program={program} full={false} toggleFull={() => {}} />;
  await act(() => render(header, page));
  expect(page.textContent).not.toContain("mind the step");
  const button = page.querySelector<HTMLElement>('[aria-label^="While tracing"]');
  await act(() => button?.click());
  expect(page.textContent).toContain("mind the step");
  expect(page.textContent).toContain("hello");
  expect(page.textContent).toContain("no lines today");
  await key(button, "Escape");
  expect(page.textContent).not.toContain("mind the step");
});

test("Escape closes a panel also where what had the focus in it is disabled", async () => {
  const { store, program } = storeOf({ ...tracedRecord().record(), warnings: ["w"] });
  const header = (
    <Header store={store} program={program} full={false} toggleFull={() => undefined} />
  );
  await act(() => render(header, page));
  const button = page.querySelector<HTMLButtonElement>('[aria-label^="While tracing"]');
  await act(() => button?.click());
  expect(page.querySelector("section")).not.toBeNull();
  expect(document.activeElement).toBe(document.body);
  await key(document.body, "Escape");
  expect(page.querySelector("section")).toBeNull();
});

test("a panel closes when the focus moves on, and stays while it moves within", async () => {
  const { store, program } = storeOf({ ...tracedRecord().record(), warnings: ["w"] });
  await act(() =>
    render(<Header store={store} program={program} full={false} toggleFull={() => {}} />, page),
  );
  const button = page.querySelector<HTMLButtonElement>('[aria-label^="While tracing"]');
  await act(() => button?.click());
  const goes = (to: Element | null): Promise<void> =>
    act(() => {
      button?.dispatchEvent(new FocusEvent("focusout", { relatedTarget: to, bubbles: true }));
    });
  await goes(page.querySelector("section"));
  await goes(null); // to no element: the window was left, or a button was disabled
  expect(page.querySelector("section")).not.toBeNull();
  await goes(page.querySelector('[aria-label="Full screen"]'));
  expect(page.querySelector("section")).toBeNull();
});

test("Escape clears the selection, and then gives the focus to the cell that holds the view", () => {
  const { store } = storeOf(tracedRecord().record());
  const cell = document.createElement("div");
  const app = document.createElement("div");
  const button = document.createElement("button");
  cell.tabIndex = -1;
  page.append(cell);
  cell.append(app);
  app.append(button);
  app.addEventListener("keydown", (event) => onKey(event, store, app));
  const press = (): boolean =>
    button.dispatchEvent(
      new KeyboardEvent("keydown", { key: "Escape", bubbles: true, cancelable: true }),
    );
  store.select({ kind: "scope", scope: 0 }, "outline");
  button.focus();
  press();
  expect(store.selection.value.kind).toBe("none");
  expect(document.activeElement).toBe(button);
  press();
  expect(document.activeElement).toBe(cell);
  cell.remove();
});

test("several attempts stand beside each other with their outcomes, one of them chosen", async () => {
  const record = tracedRecord().record();
  const { store, program } = storeOf(record, {
    record,
    attempts: [
      {
        label: "non-strict",
        outcome: "exported",
        verdict: "exported",
        parent: -1,
        step: "",
        revision: 0,
        untrusted: false,
        release: null,
        name: "ex",
      },
      {
        label: "strict",
        outcome: "failed",
        verdict: "not exported",
        parent: -1,
        step: "",
        revision: 0,
        untrusted: false,
        release: null,
        name: "ex",
      },
    ],
  });
  const header = <Header store={store} program={program} full={false} toggleFull={() => {}} />;
  await act(() => render(header, page));
  const tabs = [...page.querySelectorAll<HTMLElement>("[role=tab]")];
  expect(tabs.map((tab) => tab.className.match(/tx-mark-\w+/)?.[0])).toEqual([
    "tx-mark-exported",
    "tx-mark-failed",
  ]);
  expect(tabs[0]?.getAttribute("aria-selected")).toBe("true");
  await act(() => tabs[1]?.click());
  expect(store.current.value).toBe(1);
});

test("a file opened as data says what its program is needed for, until it is trusted", async () => {
  const record = tracedRecord().record();
  const head = {
    label: "loaded",
    outcome: "exported" as const,
    verdict: "loaded",
    parent: -1,
    step: "",
    revision: 0,
    untrusted: true,
    release: null,
    name: "ex",
  };
  const asked: [string, object][] = [];
  const { store } = storeOf(record, {
    record,
    attempts: [head],
    action: (kind, request) => {
      asked.push([kind, request]);
      return null;
    },
  });
  const host = store.host as FakeHost;
  await act(() => render(<Untrusted store={store} program={new Program(record)} />, page));
  expect(page.textContent).toContain("which can run code in it");
  await act(() => page.querySelector("button")?.click());
  expect(asked).toEqual([["trust", { attempt: 0 }]]);
  await act(() => host.change({ attempts: [{ ...head, untrusted: false, revision: 1 }] }));
  expect(page.textContent).toBe("");
});

test("a report asks nobody to trust its file", async () => {
  const record = tracedRecord().record();
  const head = {
    label: "loaded",
    outcome: "exported" as const,
    verdict: "loaded",
    parent: -1,
    step: "",
    revision: 0,
    untrusted: true,
    release: null,
    name: "ex",
  };
  const { store } = storeOf(record, { record, attempts: [head], live: false });
  await act(() => render(<Untrusted store={store} program={new Program(record)} />, page));
  expect(page.textContent).toBe("");
});

test("an action is told once while it runs, and how it ended", async () => {
  const { store } = storeOf(smallProgram().record);
  await act(() => render(<SpokenAction store={store} />, page));
  expect(page.textContent).toBe("");
  await act(() => {
    store.working.value = { what: "Verifying", since: 0, progress: null };
  });
  expect(page.textContent).toBe("Verifying…");
  await act(() => {
    store.working.value = {
      what: "Verifying",
      since: 0,
      progress: { done: 1, total: 2, label: "" },
    };
  });
  expect(page.textContent).toBe("Verifying…");
  await act(() => {
    store.working.value = null;
  });
  expect(page.textContent).toBe(`Verifying: done. ${store.program.value?.record.verdict}`);
  await act(() => {
    store.ended.value = "The kernel refused.";
  });
  expect(page.textContent).toBe("The kernel refused.");
});

test("F6 goes on from a pane of which nothing can have the focus, and to the graph's canvas", async () => {
  const { store } = storeOf(smallProgram().record);
  await act(() =>
    render(
      <>
        <section data-pane>
          <input />
        </section>
        <section data-pane class="said">
          Not run before this page was saved.
        </section>
        <section data-pane>
          <button type="button">Zoom in</button>
          <canvas data-focus tabIndex={0} />
        </section>
      </>,
      page,
    ),
  );
  const visited: (string | undefined)[] = [];
  for (let step = 0; step < 4; step++) {
    onKey(new KeyboardEvent("keydown", { key: "F6" }), store, page);
    visited.push(document.activeElement?.tagName);
  }
  expect(visited).toEqual(["INPUT", "SECTION", "CANVAS", "INPUT"]);
});
