import { afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { startLayouts } from "../graph/layout";
import { mountHost } from "../index";
import layoutCode from "../layout_asset";
import type { Record } from "../record.gen";
import { SYMBOL_COLOUR_NAMES } from "../symbol_colour";
import { FakeHost } from "../testing/fake_host";
import { layeredProgram, tracedRecord } from "../testing/models";
import { RecordBuilder } from "../testing/records";

let home: HTMLElement;
let unmount: () => void = () => undefined;

beforeAll(() => startLayouts(Promise.resolve(layoutCode)));

beforeEach(() => {
  localStorage.clear();
  home = document.createElement("div");
  document.body.append(home);
});

afterEach(() => {
  unmount();
  home.remove();
  delete document.body.dataset.jpThemeLight;
});

/** Has the next view open with its outline unfolded. */
const unfoldOutline = (): void => localStorage.setItem("export-explorer.sizes", '{"outline":1}');

/** The whole widget on a record, in a cell of some width. */
async function open(record: Record, width = 1100): Promise<HTMLElement> {
  home.style.width = `${width}px`;
  unmount = mountHost(new FakeHost({ record }), home);
  return until(() => home.querySelector<HTMLElement>(".tx-header") && root());
}

const root = (): HTMLElement | null => home.querySelector<HTMLElement>(".tx-root");

/** What a condition gives, as soon as it gives something. */
async function until<T>(condition: () => T | null | undefined | false): Promise<T> {
  for (let tries = 0; tries < 200; tries++) {
    const found = condition();
    if (found) return found;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  throw new Error(`it did not happen: ${condition}`);
}

const press = (target: Element, key: string, shiftKey = false): boolean =>
  target.dispatchEvent(
    new KeyboardEvent("keydown", { key, shiftKey, bubbles: true, cancelable: true }),
  );

function drag(target: Element, by: { x: number; y: number }): void {
  const { left, top } = target.getBoundingClientRect();
  const at = (x: number, y: number) => ({ clientX: x, clientY: y, pointerId: 1, bubbles: true });
  target.setPointerCapture = () => undefined; // no real pointer is down
  target.dispatchEvent(new PointerEvent("pointerdown", at(left, top)));
  target.dispatchEvent(new PointerEvent("pointermove", at(left + by.x, top + by.y)));
  target.dispatchEvent(new PointerEvent("pointerup", at(left + by.x, top + by.y)));
}

const bar = (label: string): Element => {
  const found = home.querySelector(`[role=separator][aria-label="${label}"]`);
  if (!found) throw new Error(`no bar ${label}`);
  return found;
};
const widthOf = (selector: string): number =>
  home.querySelector(selector)?.getBoundingClientRect().width ?? 0;

test.each([700, 830, 1100])("nothing sticks out at %i pixels", async (width) => {
  const view = await open(layeredProgram(3).record, width);
  expect(view.scrollWidth).toBeLessThanOrEqual(view.clientWidth);
  expect(widthOf("[data-testid=graph]")).toBeGreaterThan(300);
  const visible = [...view.querySelectorAll<HTMLElement>(".tx-header > *, .tx-tabs > *")];
  const right = view.getBoundingClientRect().right;
  for (const each of visible) expect(each.getBoundingClientRect().right).toBeLessThanOrEqual(right);
});

test("a bar follows the pointer, and the next view opens at the same size", async () => {
  unfoldOutline();
  await open(layeredProgram(3).record);
  const before = widthOf("section[aria-label=Outline]");
  drag(bar("Width of the outline"), { x: 60, y: 0 });
  await until(() => widthOf("section[aria-label=Outline]") === before + 60);
  unmount();
  await open(layeredProgram(3).record);
  await until(() => widthOf("section[aria-label=Outline]") === before + 60);
});

test("the view's height follows its lower edge, and a double click forgets it", async () => {
  const view = await open(layeredProgram(3).record);
  const before = view.clientHeight;
  drag(bar("Height of the view"), { x: 0, y: 40 });
  await until(() => view.clientHeight === before + 40);
  bar("Height of the view").dispatchEvent(new MouseEvent("dblclick", { bubbles: true }));
  await until(() => view.clientHeight === before);
});

test("the slash searches, Escape clears, F6 goes from pane to pane", async () => {
  unfoldOutline();
  const view = await open(tracedRecord().record());
  const tree = await until(() => home.querySelector<HTMLElement>("[role=tree]"));
  tree.focus();
  press(tree, "ArrowDown");
  await until(() => home.querySelector("[aria-selected=true][role=treeitem]"));
  press(tree, "/");
  expect(document.activeElement).toBe(home.querySelector("input[type=search]"));
  press(view.querySelector(".tx-app") ?? view, "Escape");
  await until(() => !home.querySelector("[aria-selected=true][role=treeitem]"));
  const visited = new Set<Element | null>();
  for (let step = 0; step < 4; step++) {
    press(document.activeElement ?? view, "F6");
    visited.add(document.activeElement?.closest("[data-pane], .tx-graph") ?? null);
  }
  expect(visited.size).toBeGreaterThanOrEqual(3);
});

test.each([700, 830, 1018, 1600])(
  "at %i pixels the graph has the room: two rows above it, and no pane is wider",
  async (width) => {
    const view = await open(tracedRecord().record(), width);
    expect(home.querySelector("[role=tree]")).toBeNull();
    const graph = home.querySelector("[data-testid=graph]")?.getBoundingClientRect();
    const frame = view.getBoundingClientRect();
    expect((graph?.top ?? 999) - frame.top).toBeLessThanOrEqual(90);
    expect(graph?.width).toBeGreaterThanOrEqual(frame.width / 2);
    const tops = [...home.querySelectorAll("[aria-label=Details] > [role=tab]")].map(
      (tab) => tab.getBoundingClientRect().top,
    );
    expect(tops.length).toBeGreaterThan(7);
    expect(new Set(tops).size).toBe(1);
    const tabs = home.querySelector("[aria-label=Details]");
    expect(tabs?.scrollWidth).toBeLessThanOrEqual(tabs?.clientWidth ?? 0);
  },
);

test("the outline is folded into the search box until it is wanted", async () => {
  const view = await open(tracedRecord().record());
  press(view.querySelector(".tx-canvas") ?? view, "/");
  const search = await until(() =>
    document.activeElement?.matches("[data-search]") ? document.activeElement : null,
  );
  expect(home.querySelector("[role=tree]")).toBeNull();
  (search as HTMLInputElement).value = "mul";
  search.dispatchEvent(new InputEvent("input", { bubbles: true }));
  await until(() => home.querySelector("[role=treeitem]"));
  expect(widthOf("[data-testid=graph]")).toBeGreaterThan(300);
  press(search, "Escape");
  press(search, "Escape");
  await until(() => !home.querySelector("[role=tree]"));
  const button = home.querySelector<HTMLElement>("[data-tab=outline]");
  button?.click();
  await until(() => home.querySelector("[role=tree]"));
  expect(button?.getAttribute("aria-expanded")).toBe("true");
  unmount();
  await open(tracedRecord().record());
  await until(() => home.querySelector("[role=tree]"));
});

test("an outline that was folded has all its rows when it unfolds", async () => {
  const program = layeredProgram(3);
  const add = [...program.allNodes()].filter((id) => program.target(id)).at(-2) ?? -1;
  const host = new FakeHost({ record: program.record });
  host.first = { select: [program.name(add)] };
  home.style.width = "1100px";
  unmount = mountHost(host, home);
  const button = await until(() => home.querySelector<HTMLElement>("[data-tab=outline]"));
  await until(() => home.querySelector("[data-testid=inspector]"));
  button.click();
  await until(() => home.querySelector("[role=treeitem][aria-selected=true]"));
  const last = [...home.querySelectorAll("[role=treeitem]")].at(-1);
  expect(last?.textContent).toContain("output");
});

test("all that can be done is in a list that a key opens, and typing narrows", async () => {
  const view = await open(tracedRecord().record());
  const canvas = view.querySelector<HTMLElement>(".tx-canvas");
  canvas?.focus();
  press(canvas ?? view, "?");
  const dialog = await until(() => home.querySelector<HTMLElement>("[role=dialog]"));
  const field = dialog.querySelector<HTMLInputElement>("input");
  await until(() => document.activeElement === field);
  expect(dialog.querySelectorAll("[role=option]").length).toBeGreaterThan(40);
  if (field) field.value = "shapes";
  field?.dispatchEvent(new InputEvent("input", { bubbles: true }));
  await until(() => dialog.querySelectorAll("[role=option]").length < 10);
  press(field ?? view, "Enter");
  await until(() => home.querySelector("[data-testid=shapes]"));
  expect(home.querySelector("[role=dialog]")).toBeNull();
  expect(document.activeElement).toBe(canvas);
});

test.each([620, 760])(
  "what a fix did leaves the panes their height at %i pixels",
  async (width) => {
    const plain = await open(tracedRecord().record(), width);
    const before = plain.querySelector(".tx-main")?.clientHeight ?? 0;
    unmount();
    const fixed = {
      fixed_by: ["Rewrite the branch on line 13 with torch.cond", "Bound height ≥ 3 and width ≥ 3"],
      given_up: ["The program rejects height = 2, which the model takes"],
      fixed_code: ["--- a\n+++ b\n@@ -1 +1 @@\n-a\n+b\n"],
    };
    const head = {
      label: "non-strict",
      outcome: "exported" as const,
      verdict: "exported",
      parent: -1,
      step: "",
      revision: 0,
      untrusted: false,
      release: null,
      name: "ex",
    };
    const host = new FakeHost({
      record: { ...tracedRecord().record(), ...fixed },
      attempts: [head, { ...head, parent: 0 }],
    });
    host.current = 1;
    unmount = mountHost(host, home);
    const button = await until(() =>
      home.querySelector<HTMLElement>(".tx-outcome-line > .tx-button"),
    );
    const shown = button.offsetWidth;
    button.style.width = "max-content";
    expect(button.offsetWidth).toBe(shown);
    expect(home.querySelector(".tx-main")?.clientHeight).toBeGreaterThan(before - 40);
    home.querySelector<HTMLElement>("[aria-label=Dismiss]")?.click();
    await until(() => home.querySelector(".tx-main")?.clientHeight === before);
  },
);

test("the name of a size stays whole in a narrow pane", async () => {
  const build = new RecordBuilder("net(x)");
  const x = build.input("x", ["batch", "height", "width"]);
  build.output([build.call("relu", [x], { shape: ["batch", "height", "width"] })]);
  home.style.setProperty("--tx-height", "420px"); // the panes are side by side
  const view = await open(build.record(), 700);
  const tabs = [...view.querySelectorAll<HTMLElement>("[role=tab]")];
  tabs.find((tab) => tab.textContent?.startsWith("Shapes"))?.click();
  await until(() => view.querySelector(".tx-symbol-name"));
  for (const name of view.querySelectorAll(".tx-symbol-name")) {
    const text = document.createRange();
    text.selectNodeContents(name);
    expect(text.getClientRects()).toHaveLength(1);
  }
  home.style.removeProperty("--tx-height");
});

test("a narrow view has its panes stacked, unless it is so low that neither could be read", async () => {
  home.style.setProperty("--tx-height", "400px");
  await open(layeredProgram(3).record, 700);
  const graph = await until(() => home.querySelector("[data-testid=graph]"));
  await until(() => !home.querySelector(".tx-body-column"));
  expect(graph.getBoundingClientRect().height).toBeGreaterThan(200);
  unmount();
  home.style.setProperty("--tx-height", "560px");
  await open(layeredProgram(3).record, 700);
  await until(() => home.querySelector(".tx-body-column"));
  home.style.removeProperty("--tx-height");
});

test("graph and source in large type are side by side where a beamer's zoom leaves little height", async () => {
  home.style.setProperty("--tx-height", "390px");
  const view = await open(layeredProgram(3).record, 760);
  press(view.querySelector(".tx-canvas") ?? view, "?");
  const option = await until(() =>
    [...home.querySelectorAll<HTMLElement>("[role=option]")].find((each) =>
      each.textContent?.startsWith("Teaching layout"),
    ),
  );
  option.click();
  await until(() => home.querySelector(".tx-teaching:not(.tx-body-column)"));
  const graph = home.querySelector("[data-testid=graph]")?.getBoundingClientRect();
  expect(graph?.height).toBeGreaterThan(240);
  home.style.setProperty("--tx-height", "760px");
  await until(() => home.querySelector(".tx-teaching.tx-body-column"));
  home.style.removeProperty("--tx-height");
});

test("the slash leads to the search of a narrow view, too", async () => {
  const view = await open(layeredProgram(3).record, 500);
  press(view.querySelector(".tx-canvas") ?? view, "/");
  await until(() => document.activeElement?.matches("[data-search]"));
});

test("keys that a pane uses do not reach the notebook", async () => {
  unfoldOutline();
  await open(tracedRecord().record());
  const heard: string[] = [];
  const hear = (event: KeyboardEvent): number => heard.push(event.key);
  document.addEventListener("keydown", hear);
  const tree = await until(() => home.querySelector("[role=tree]"));
  for (const key of ["ArrowDown", "Enter", "d", "/", "Escape"]) press(tree, key);
  document.removeEventListener("keydown", hear);
  expect(heard).toEqual([]);
});

test("full screen without leave of the host covers the page, and comes back", async () => {
  const view = await open(tracedRecord().record());
  view.requestFullscreen = () => Promise.reject(new Error("forbidden"));
  const button = home.querySelector<HTMLElement>('[aria-label="Full screen"]');
  button?.click();
  await until(() => view.getBoundingClientRect().width === window.innerWidth);
  expect(view.getBoundingClientRect().height).toBe(window.innerHeight);
  button?.click();
  await until(() => view.getBoundingClientRect().width === home.clientWidth);
});

test("in a shadow root the view is styled, and dark on a dark page", async () => {
  home.style.background = "rgb(20, 20, 20)";
  home.style.width = "1100px";
  const inside = document.createElement("div");
  home.attachShadow({ mode: "open" }).append(inside);
  unmount = mountHost(new FakeHost({ record: tracedRecord().record() }), inside);
  const view = await until(() => inside.querySelector<HTMLElement>(".tx-root:has(.tx-header)"));
  expect(view.dataset.txTheme).toBe("dark");
  expect(getComputedStyle(view).overflow).toBe("hidden");
  expect(home.shadowRoot?.querySelectorAll("style")).toHaveLength(1);
});

test("the theme follows JupyterLab's while the view is open", async () => {
  document.body.dataset.jpThemeLight = "true";
  const view = await open(tracedRecord().record());
  expect(view.dataset.txTheme).toBe("light");
  document.body.dataset.jpThemeLight = "false";
  await until(() => view.dataset.txTheme === "dark");
});

test.each(["true", "false"])(
  "text stands out enough from its ground (light: %s)",
  async (light) => {
    document.body.dataset.jpThemeLight = light;
    const view = await open(tracedRecord().record());
    const colour = (name: string): number[] => rgb(view, `var(${name})`);
    const grounds = ["--tx-bg", "--tx-surface", "--tx-raised", "--tx-hover", "--tx-accent-soft"];
    const texts = ["--tx-fg", "--tx-muted", "--tx-accent", "--tx-danger", "--tx-warn"];
    for (const ground of grounds) {
      for (const text of [...texts, ...SYMBOL_COLOUR_NAMES]) {
        expect(contrast(colour(text), colour(ground)), `${text} on ${ground}`).toBeGreaterThan(4.5);
      }
    }
  },
);

test("a pane alone is that pane alone", async () => {
  home.style.width = "800px";
  unmount = mountHost(new FakeHost({ record: tracedRecord().record(), layout: "signature" }), home);
  await until(() => home.querySelector("[data-testid=signature]"));
  expect(home.querySelector("canvas, [role=tree]")).toBeNull();
});

/** A colour as red, green and blue, from 0 to 255. */
function rgb(view: Element, value: string): number[] {
  const probe = document.createElement("span");
  probe.style.color = value;
  view.append(probe);
  const context = document.createElement("canvas").getContext("2d");
  if (!context) throw new Error("no canvas");
  context.fillStyle = getComputedStyle(probe).color;
  context.fillRect(0, 0, 1, 1);
  probe.remove();
  return [...context.getImageData(0, 0, 1, 1).data].slice(0, 3);
}

/** After WCAG 2. */
function contrast(one: number[], other: number[]): number {
  const [high = 0, low = 0] = [relative(one), relative(other)].sort((a, b) => b - a);
  return (high + 0.05) / (low + 0.05);
}

function relative(colour: number[]): number {
  const [red = 0, green = 0, blue = 0] = colour.map((each) => {
    const part = each / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}
