import { render } from "preact";
import { afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { userEvent } from "vitest/browser";
import type { Host } from "../host";
import layoutCode from "../layout_asset";
import type { Program } from "../program";
import { Store } from "../store";
import style from "../style/index.css";
import { branchingProgram, layeredProgram, smallProgram } from "../testing/models";
import { soon } from "../testing/soon";
import { GraphPane } from "./GraphPane";
import { startLayouts } from "./layout";
import { Stage } from "./stage";

const host: Host = {
  layout: "graph",
  attempts: [],
  current: 0,
  compared: -1,
  ask: () => Promise.reject(new Error("no kernel in this test")),
  onChange: () => () => undefined,
  onProgress: () => () => undefined,
  live: true,
  lost: "",
};

let root: HTMLElement;
let store: Store;

beforeAll(() => startLayouts(Promise.resolve(layoutCode)));

beforeEach(() => {
  const sheet = document.createElement("style");
  sheet.textContent = style;
  root = document.createElement("div");
  root.className = "tx-root";
  root.style.cssText = "display: flex; width: 800px; height: 600px";
  document.body.append(sheet, root);
  store = new Store(host);
});

afterEach(() => {
  render(null, root);
  document.body.replaceChildren();
  document.body.removeAttribute("style");
  performance.clearMarks();
});

const canvas = (): HTMLCanvasElement => {
  const found = root.querySelector<HTMLCanvasElement>("[data-testid=graph]");
  if (!found) throw new Error("there is no canvas");
  return found;
};

const paintings = (): number => performance.getEntriesByName("tx:painted").length;

async function painted(count: number): Promise<void> {
  await soon(() => expect(paintings()).toBeGreaterThanOrEqual(count));
}

async function show(program: Program): Promise<void> {
  store.program.value = program;
  render(<GraphPane store={store} />, root);
  await painted(1);
}

/** The colours in the middle column of the canvas, from top to bottom, each once in a row. */
function middleColumn(): string[] {
  const { width, height } = canvas();
  const { data } = canvas()
    .getContext("2d")
    ?.getImageData(width / 2, 0, 1, height) ?? { data: [] };
  const colours: string[] = [];
  for (let at = 0; at < data.length; at += 4) {
    const colour = `${data[at]},${data[at + 1]},${data[at + 2]}`;
    if (colours.at(-1) !== colour) colours.push(colour);
  }
  return colours;
}

/** Clicks where a box is, found by asking what each point would select. */
async function clickBox(name: string, kind: "click" | "dblClick" = "click"): Promise<void> {
  const program = store.program.value;
  for (let y = 8; y < canvas().clientHeight; y += 10) {
    for (let x = 8; x < canvas().clientWidth; x += 20) {
      const at = { bubbles: true, clientX: 0, clientY: 0 };
      const rect = canvas().getBoundingClientRect();
      Object.assign(at, { clientX: rect.left + x, clientY: rect.top + y });
      canvas().dispatchEvent(new PointerEvent("pointermove", at));
      const hovered = store.hovered.value;
      if (hovered === null || program?.name(hovered) !== name) continue;
      await userEvent[kind](canvas(), { position: { x, y } });
      return;
    }
  }
  throw new Error(`no box is called ${name}`);
}

const selectedNames = (): string[] => {
  const { value } = store.selection;
  return value.kind === "nodes" ? value.nodes.map((id) => store.program.value?.name(id) ?? "") : [];
};

describe("the graph pane", () => {
  test("paints the program", async () => {
    await show(smallProgram());
    await soon(() => expect(middleColumn().length).toBeGreaterThan(10));
  });

  test("leaves the arrow keys to the canvas, whose one item says where they have come to", async () => {
    await show(smallProgram());
    expect(canvas().getAttribute("role")).toBe("listbox");
    const item = () => root.querySelector(`#${canvas().getAttribute("aria-activedescendant")}`);
    expect(item()?.textContent).toBe("Nothing is selected");
    canvas().focus();
    await userEvent.keyboard("{ArrowDown}");
    await soon(() => expect(selectedNames()).toHaveLength(1));
    await soon(() => expect(item()?.textContent).toContain(`${selectedNames()[0]}: `));
    expect(item()?.parentElement).toBe(canvas());
  });

  test("says that there is no graph where there is none", async () => {
    const program = smallProgram();
    Object.assign(program.record, { graphs: [] });
    store.program.value = program;
    render(<GraphPane store={store} />, root);
    await soon(() => expect(root.textContent).toContain("There is no graph"));
  });

  test("selects what is clicked, and nothing beside every box", async () => {
    await show(smallProgram());
    await clickBox("relu");
    await soon(() => expect(selectedNames()).toEqual(["relu"]));
    await userEvent.click(canvas(), { position: { x: 5, y: 300 } });
    expect(store.selection.value.kind).toBe("none");
  });

  test("walks along the edges with the arrow keys", async () => {
    await show(smallProgram());
    await clickBox("linear");
    await userEvent.keyboard("{ArrowDown}");
    expect(selectedNames()).toEqual(["relu"]);
    await userEvent.keyboard("{ArrowUp}{ArrowUp}");
    expect(selectedNames()).toEqual(["x"]);
  });

  test("opens and closes what has branches with a double click", async () => {
    await show(branchingProgram());
    await clickBox("cond", "dblClick");
    await painted(2);
    await clickBox("mul");
    expect(selectedNames()).toEqual(["mul"]);
  });

  test("opens and closes the selection with Enter, and everything with e and c", async () => {
    await show(layeredProgram(3));
    const scope = store.program.value?.record.scopes.findIndex((each) => each.name === "encoder");
    store.select({ kind: "scope", scope: scope ?? -1 }, "outline");
    canvas().focus();
    await userEvent.keyboard("{Enter}");
    await painted(2);
    await userEvent.keyboard("e");
    await painted(3);
    await clickBox("matmul");
    await userEvent.keyboard("c");
    await painted(4);
    await expect(clickBox("matmul")).rejects.toThrow("no box");
  });

  test("opens the modules that were asked for before it was there, and tells which are open", async () => {
    const program = layeredProgram(5);
    store.toOpen.value = ["encoder.layer.2"];
    await show(program);
    const scope = program.record.scopes.findIndex((each) => each.path === "encoder.layer.2");
    await soon(() => expect(store.openScopes.value).toContain(scope));
    const encoder = program.record.scopes.findIndex((each) => each.path === "encoder");
    expect(store.openScopes.value).toContain(encoder);
    expect(store.openScopes.value).toHaveLength(2);
  });

  test("opens the scopes around an op that is selected elsewhere", async () => {
    await show(layeredProgram(3));
    await expect(clickBox("matmul_1")).rejects.toThrow("no box");
    const program = store.program.value;
    const node = [...(program?.allNodes() ?? [])].find((id) => program?.name(id) === "matmul_1");
    store.select({ kind: "nodes", nodes: [node ?? -1] }, "outline");
    await painted(2);
    await new Promise((resolve) => setTimeout(resolve, 400)); // the camera glides there
    await clickBox("matmul_1");
  });

  test("leaves the wheel to the page until the graph has the focus", async () => {
    await show(smallProgram());
    const wheel = (init: WheelEventInit): boolean =>
      canvas().dispatchEvent(new WheelEvent("wheel", { cancelable: true, deltaY: 40, ...init }));
    expect(wheel({})).toBe(true);
    await soon(() => expect(root.textContent).toContain("Ctrl and scroll to zoom"));
    expect(wheel({ ctrlKey: true })).toBe(false);
    canvas().focus();
    expect(wheel({})).toBe(false);
  });

  test("shows parameters as boxes on demand", async () => {
    await show(smallProgram());
    await expect(clickBox("p_lin_weight")).rejects.toThrow("no box");
    root.querySelector<HTMLElement>("[aria-label^='More']")?.click();
    await soon(() => expect(root.querySelector("[aria-label^='Weights']")).toBeTruthy());
    const weights = root.querySelector<HTMLElement>("[aria-label^='Weights']");
    weights?.click();
    await painted(2);
    canvas().focus();
    await userEvent.keyboard("e");
    await painted(3);
    await clickBox("p_lin_weight");
    expect(selectedNames()).toEqual(["p_lin_weight"]);
    expect(weights?.getAttribute("aria-pressed")).toBe("true");
  });

  test("follows the theme", async () => {
    await show(smallProgram());
    root.style.colorScheme = "light";
    document.body.dataset.theme = "light";
    await soon(() => expect(middleColumn()[0]).toBe("255,255,255"));
    root.style.colorScheme = "dark";
    document.body.dataset.theme = "dark";
    await soon(() => expect(middleColumn()[0]).toBe("22,24,29"));
  });

  test("is not black where it was mounted before it came into the page", async () => {
    const place = root.parentElement;
    root.remove();
    store.program.value = smallProgram();
    render(<GraphPane store={store} />, root);
    place?.append(root);
    await soon(() => expect(middleColumn()[0]).toBe("255,255,255"));
    await painted(1);
    expect(middleColumn()).not.toContain("0,0,0");
  });

  test("follows a style sheet that comes late and changes no attribute", async () => {
    await show(smallProgram());
    await soon(() => expect(middleColumn()[0]).toBe("255,255,255"));
    const late = document.createElement("style");
    late.textContent = ":root { --jp-layout-color1: rgb(17, 17, 17); }";
    document.head.append(late);
    await soon(() => expect(middleColumn()[0]).toBe("17,17,17"));
    late.remove();
    await soon(() => expect(middleColumn()[0]).toBe("255,255,255"));
  });

  test("shows a minimap where the view does not show everything", async () => {
    await show(layeredProgram(12));
    const map = root.querySelector<HTMLElement>(".tx-minimap");
    expect(map?.hidden).toBe(true);
    canvas().focus();
    await userEvent.keyboard("e");
    await painted(2);
    await soon(() => expect(map?.hidden).toBe(false));
  });

  test("stands in the middle also of a view that has become narrower", async () => {
    await show(smallProgram());
    await soon(() => expect(middleColumn().length).toBeGreaterThan(10));
    root.style.width = "400px";
    await soon(() => expect(canvas().width).toBeLessThan(401));
    await soon(() => expect(middleColumn().length).toBeGreaterThan(10));
  });

  test("keeps in its middle what a view that was moved had there", async () => {
    await show(smallProgram());
    const stage = store.graph.value?.stage;
    if (!(stage instanceof Stage)) throw new Error("there is no stage");
    stage.zoomBy(2, 100, 100);
    const middle = (): number => stage.camera.x + stage.size.width / 2 / stage.camera.zoom;
    const was = middle();
    root.style.width = "400px";
    await soon(() => expect(stage.size.width).toBeLessThan(401));
    expect(middle()).toBeCloseTo(was, 6);
  });

  test("keeps its buttons in one row of a narrow pane", async () => {
    root.style.width = "280px";
    await show(smallProgram());
    const shown = [...root.querySelectorAll(".tx-toolbar button")].filter((button) =>
      button.checkVisibility(),
    );
    const tops = shown.map((button) => button.getBoundingClientRect().top);
    expect(new Set(tops.map(Math.round)).size).toBe(1);
    const bar = root.querySelector(".tx-toolbar");
    expect(bar?.scrollWidth).toBeLessThanOrEqual(bar?.clientWidth ?? 0);
  });

  test("gives every button a name", async () => {
    await show(smallProgram());
    const buttons = [...root.querySelectorAll(".tx-toolbar button")];
    expect(buttons.length).toBeGreaterThan(5);
    for (const button of buttons) expect(button.getAttribute("aria-label")).toBeTruthy();
  });
});
