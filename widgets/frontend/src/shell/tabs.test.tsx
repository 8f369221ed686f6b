import { render } from "preact";
import { act } from "preact/test-utils";
import { expect, test } from "vitest";
import { freshPage, page } from "../testing/page";
import { fitting, Tabs } from "./Tabs";

freshPage();

const TABS = [
  ["one", "One"],
  ["two", "Two"],
] as const;

test("an open tab leads to its panel, which has its name, in each of two views", async () => {
  let open: "one" | "two" = "one";
  const row = (label: string) => (
    <Tabs
      label={label}
      tabs={TABS}
      open={open}
      choose={(tab) => {
        open = tab;
        draw();
      }}
    >
      <p>{open}</p>
    </Tabs>
  );
  const second = document.createElement("div");
  const draw = () => {
    render(row("First"), page);
    render(row("Second"), second);
  };
  page.after(second);
  await act(draw);
  const panelOf = (view: Element): Element | null => {
    const tab = view.querySelector("[aria-selected=true]");
    const panel = document.getElementById(tab?.getAttribute("aria-controls") ?? "");
    expect(panel?.getAttribute("aria-labelledby")).toBe(tab?.id);
    return panel;
  };
  expect(panelOf(page)?.textContent).toBe("one");
  expect(panelOf(page)?.getAttribute("role")).toBe("tabpanel");
  expect(second.contains(panelOf(second))).toBe(true);

  const right = new KeyboardEvent("keydown", { key: "ArrowRight", bubbles: true });
  await act(() => void page.querySelector("[role=tab]")?.dispatchEvent(right));
  expect(panelOf(page)?.textContent).toBe("two");
  expect(document.activeElement?.textContent).toBe("Two");
  render(null, second);
  second.remove();
});

test("tabs without room are in the menu, and the open one never is", () => {
  const [names, widths] = [
    ["a", "b", "c", "d"],
    [50, 50, 50, 50],
  ];
  expect([...fitting(names, widths, 200, 0)]).toEqual(names);
  expect([...fitting(names, widths, 199, 0)]).toEqual(["a", "b", "c"]);
  expect([...fitting(names, widths, 154, 3)]).toEqual(["a", "d"]);
  expect([...fitting(names, widths, 10, 2)]).toEqual(["c"]);
});
