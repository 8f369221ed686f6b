import { afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { startLayouts } from "../graph/layout";
import { mountHost } from "../index";
import layoutCode from "../layout_asset";
import { FakeHost } from "../testing/fake_host";
import { soon } from "../testing/soon";
import { stagedRecord } from "../testing/stages";

let home: HTMLElement;
let unmount: () => void;
let clicks = 0;

beforeAll(() => startLayouts(Promise.resolve(layoutCode)));

beforeEach(async () => {
  localStorage.clear();
  home = document.createElement("div");
  home.style.width = "1100px";
  document.body.append(home);
  clicks = 0;
  unmount = mountHost(new FakeHost({ record: stagedRecord() }), home);
  await soon(() => expect(find(".tx-header")).not.toBe(null));
});

afterEach(() => {
  unmount();
  home.remove();
});

const find = <T extends HTMLElement>(selector: string): T | null => home.querySelector<T>(selector);

const graphs = (): number => home.querySelectorAll('[data-testid="graph"]').length;

async function click(selector: string): Promise<void> {
  await soon(() => expect(find(selector)).not.toBe(null));
  find(selector)?.click();
  clicks += 1;
}

test("the canvas shows one stage of the compilation, or two side by side", async () => {
  expect(graphs()).toBe(1);
  await click('[data-testid="rung-kernels"]');
  const beside = '[data-testid="rung-beside"]';
  await soon(() => expect(find(beside)).not.toBe(null));
  expect(graphs()).toBe(1);
  const choice = find<HTMLSelectElement>(beside);
  if (choice) choice.value = "exported";
  choice?.dispatchEvent(new Event("change", { bubbles: true }));
  await soon(() => expect(graphs()).toBe(2));
  const leave = find('[aria-label="Close the stages"]');
  const right = leave?.getBoundingClientRect().right ?? Number.POSITIVE_INFINITY;
  const buttons = [...(leave?.closest(".tx-toolbar-graph")?.querySelectorAll("button") ?? [])];
  const next = buttons.slice(buttons.indexOf(leave as HTMLButtonElement) + 1);
  expect(next.length).toBeGreaterThan(0);
  for (const each of next) expect(each.getBoundingClientRect().left).toBeGreaterThanOrEqual(right);
  await click('[aria-label="Close the stages"]');
  await soon(() => expect(graphs()).toBe(1));
});

test("a kernel that is chosen on the canvas is told of in the pane", async () => {
  await click('[data-testid="rung-kernels"]');
  const canvas = '[data-testid="graph"]';
  await soon(() => expect(find(canvas)?.getAttribute("aria-activedescendant")).not.toBe(null));
  const press = (key: string): void => {
    find(canvas)?.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
  };
  await soon(() => {
    press("ArrowDown");
    const kernel = find('[data-testid="stage-kernel"] h3')?.textContent;
    expect(kernel).toBe("cpp_fused_relu_sin_0:1");
  });
});

test("why a line costs is found in fewer than three clicks", async () => {
  await click('[data-testid="tab-stages"], [data-tab="stages"]');
  await click('[data-testid="stage-remarks"] button');
  expect(find('[data-testid="stage-kernel"]')?.textContent).toContain("is not fused");
  expect(find('[data-testid="stage-kernel"]')?.textContent).toContain("net.py:5");
  expect(clicks).toBeLessThan(3);
});
