import { signal } from "@preact/signals";
import { render } from "preact";
import { act } from "preact/test-utils";
import { expect, test } from "vitest";
import type { Working } from "../store";
import { FakeHost } from "../testing/fake_host";
import { type Choice, Choices } from "./Choices";

test("each choice is a button with what it means, and none can be pressed while one is taken", () => {
  const root = document.createElement("div");
  const choices = signal<readonly Choice[]>([
    { title: "Export with these sizes", means: "x: a, _. about 4 s" },
    { title: "Apply: <b>", means: "Gives up: answers" },
  ]);
  const working = signal<Working | null>(null);
  const taken: number[] = [];
  const take = (number: number) => void taken.push(number);
  const host = new FakeHost({ attempts: [] });
  const show = () =>
    act(() =>
      render(
        <Choices
          host={host}
          choices={choices}
          working={working}
          problem={signal("")}
          take={take}
        />,
        root,
      ),
    );
  show();
  const buttons = () => [...root.querySelectorAll("button")];
  expect(buttons().map((each) => each.textContent)).toEqual([
    "Export with these sizes",
    "Apply: <b>",
  ]);
  expect(root.textContent).toContain("about 4 s");
  act(() => buttons()[1]?.click());
  expect(taken).toEqual([1]);

  act(() => {
    working.value = { what: "Apply", since: performance.now(), progress: null };
  });
  expect(
    buttons()
      .slice(-2)
      .every((each) => each.disabled),
  ).toBe(true);
  act(() => {
    working.value = null;
    choices.value = [];
  });
  expect(root.textContent).toBe("");
});
