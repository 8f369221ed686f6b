import { render } from "preact";
import { act } from "preact/test-utils";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { Program } from "../program";
import type { Record } from "../record.gen";
import { storeOf } from "../testing/fake_host";
import { tracedRecord } from "../testing/models";
import { StackedDetails } from "./Details";
import { Lost } from "./Lost";
import { DEFAULTS } from "./sizes";

const page = document.createElement("div");
document.body.append(page);
beforeEach(() => void vi.spyOn(console, "error").mockReturnValue());
afterEach(() => {
  vi.restoreAllMocks();
  render(null, page);
});

/** A Record one part of which no pane can draw. */
function broken(): Record {
  const record = tracedRecord().record();
  return { ...record, signature: { ...record.signature, inputs: [null as never] } };
}

const draw = (program: Program, store: ReturnType<typeof storeOf>["store"]): Promise<void> =>
  act(() =>
    render(
      <StackedDetails
        store={store}
        program={program}
        height={600}
        sizes={DEFAULTS}
        change={() => undefined}
      />,
      page,
    ),
  );

test("an error in one pane leaves the others alive, and can be reported", async () => {
  const { store } = storeOf(tracedRecord().record(), { sources: { 0: "x = 1" } });
  store.open("signature");
  const program = new Program(tracedRecord().record());
  Object.assign(program.record, broken());
  await draw(program, store);
  const said = page.querySelector("[data-testid=trouble]");
  expect(said?.textContent).toContain("Signature cannot be shown");
  expect(page.querySelector(".tx-code, [data-testid=source], [aria-label=Source]")).not.toBeNull();
  const copied: string[] = [];
  Object.defineProperty(navigator, "clipboard", {
    configurable: true,
    value: { writeText: (text: string) => void copied.push(text) },
  });
  const copy = [...page.querySelectorAll("button")].find((each) =>
    each.textContent?.includes("Copy a report"),
  );
  await act(() => copy?.click());
  expect(copied[0]).toContain("an error in Signature");
  expect(copied[0]).toContain(`torch ${program.record.torch_version}`);
  await act(() => store.open("runs"));
  expect(page.querySelector("[data-testid=trouble]")).toBeNull();
});

test("a pane that failed is tried again with another program", async () => {
  const { store, program: whole } = storeOf(tracedRecord().record());
  store.open("signature");
  const program = new Program(tracedRecord().record());
  Object.assign(program.record, broken());
  await draw(program, store);
  await draw(whole, store);
  expect(page.querySelector("[data-testid=trouble]")).toBeNull();
});

test("a view whose kernel is gone says so, and what it shows", async () => {
  const { store, program } = storeOf(tracedRecord().record());
  await act(() => render(<Lost store={store} program={program} />, page));
  expect(page.textContent).toBe("");
  await act(() => {
    store.lost.value = "The kernel was restarted";
  });
  expect(page.textContent).toBe(
    `The kernel was restarted: this view is a static picture of ${program.record.title}. ` +
      "Run the cell again to go on.",
  );
});
