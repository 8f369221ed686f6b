/** What a screen reader hears of the panes, where it is not what is seen. */

import { render } from "preact";
import { act } from "preact/test-utils";
import { expect, test } from "vitest";
import { storeOf } from "../testing/fake_host";
import { CELL, layeredProgram, tracedRecord } from "../testing/models";
import { freshPage, page } from "../testing/page";
import { Outline } from "./outline/Outline";
import { CopyButton } from "./parts/CopyButton";
import { Source } from "./source/Source";

freshPage();

/** Lets answers arrive and their effects run. */
const settle = (): Promise<void> => act(() => new Promise((resolve) => setTimeout(resolve, 30)));

test("the outline's first row has the keys once the tree has the focus, and is not selected", async () => {
  const { store, program } = storeOf(layeredProgram(2).record);
  await act(() => render(<Outline store={store} program={program} />, page));
  const tree = page.querySelector<HTMLElement>("[role=tree]");
  expect(tree?.getAttribute("aria-activedescendant")).toBeNull();
  await act(() => tree?.focus());
  const first = page.querySelector("[role=treeitem]");
  expect(tree?.getAttribute("aria-activedescendant")).toBe(first?.id);
  expect(store.selection.value.kind).toBe("none");
});

test("a row of the outline is named in words, and has no title that would be heard after it", async () => {
  const { store, program } = storeOf(layeredProgram(2).record);
  await act(() => render(<Outline store={store} program={program} />, page));
  const rows = [...page.querySelectorAll("[role=treeitem]")];
  const module = rows.find((row) => row.querySelector(".tx-row-count"));
  for (const unheard of module?.querySelectorAll("[aria-hidden=true]") ?? []) unheard.remove();
  expect(module?.textContent).toMatch(/\d+ ops$/);
  expect(rows.filter((row) => row.hasAttribute("title"))).toEqual([]);
});

test("a line's number stands alone in its name, and its title says how many ops it made", async () => {
  const { store, program } = storeOf(tracedRecord().record(), { sources: { 0: CELL } });
  await act(() => render(<Source store={store} program={program} />, page));
  await settle();
  const line = [...page.querySelectorAll("[role=option]")].find((each) =>
    each.hasAttribute("title"),
  );
  const number = line?.getAttribute("data-line");
  expect(line?.getAttribute("title")).toMatch(
    new RegExp(`^Select the \\d+ ops? of line ${number}$`),
  );
  line?.querySelector("[aria-hidden=true]")?.remove();
  expect(line?.textContent?.match(/\d+/g)).toEqual([number]);
});

test("that a text was copied is told, not only shown on the button", async () => {
  await act(() => render(<CopyButton text={() => "x"} />, page));
  const told = page.querySelector("[aria-live=polite]");
  expect(told?.textContent).toBe("");
  await act(() => page.querySelector("button")?.click());
  await settle();
  expect(told?.textContent).toMatch(/^(Copied|Not allowed here)$/);
  expect(told?.textContent).toBe(page.querySelector("button")?.textContent);
});
