import { render } from "preact";
import { act } from "preact/test-utils";
import { describe, expect, test } from "vitest";
import type { Release } from "../messages.gen";
import type { Record, RunRow, Verification } from "../record.gen";
import { Store } from "../store";
import { firstTab, signOf, tabStatus } from "../tab_status";
import { FakeHost, storeOf } from "../testing/fake_host";
import { claim, headOf, judged } from "../testing/heads";
import { layeredProgram, smallProgram } from "../testing/models";
import { freshPage, page } from "../testing/page";
import { failureOf } from "../testing/records";
import { App } from "./App";

freshPage();

const record = (known: Partial<Record> = {}): Record => ({ ...smallProgram().record, ...known });

const run = (outcome: RunRow["outcome"], device = "cpu"): RunRow => ({
  backend: "program",
  title: "exported program",
  device,
  inputs: "the example",
  outcome,
  sentence: outcome === "unavailable" ? `There is no ${device} here.` : "",
  detail: "",
  error: null,
  times: null,
  memory: -1,
  size: -1,
  saved: "",
  node: -1,
  where: "",
  torch_version: "",
  calls: 1,
  lost: [],
});

const verified = (verdict: Verification["verdict"]): Verification => ({
  verdict,
  sentence: "",
  seconds: 1,
  trials: [],
  left_out: [],
  rows: [],
});

const DID_NOT_RUN = claim("runs", { state: "open", words: "did not run on cuda:0", count: "–" });

describe("what is known of a program", () => {
  test("is what the verdict says, whatever the Record has", () => {
    const told = (release: Release | null, known: Partial<Record> = {}) => {
      const made = { record: record(known), release };
      const tabs = ["findings", "guarantees", "runs"] as const;
      const all = tabs.map((tab) => tabStatus(tab, made, null)).filter((each) => each !== null);
      return [signOf(made), ...all.map(({ tone, words }) => `${tone}: ${words}`)];
    };
    expect(told(null)).toEqual(["good"]);
    expect(told(null, { verification: verified("holds"), runs: [run("differs")] })).toEqual([
      "good",
    ]);
    expect(
      told(
        judged(
          "bad",
          claim("verification", { state: "open", words: "13 guarantees hold" }),
          claim("runs", { state: "bad", words: "differs on cpu" }),
          claim("findings", { words: "2 notes", count: "2" }),
        ),
      ),
    ).toEqual(["bad", "plain: 2 notes", "warn: 13 guarantees hold", "bad: differs on cpu"]);
    expect(told(judged("open", DID_NOT_RUN))).toEqual(["warn", "warn: did not run on cuda:0"]);
    expect(told(null, { failure: failureOf({}), outcome: "failed" })).toEqual(["failed"]);
  });

  test("is what opens first", () => {
    expect(firstTab(record())).toBe("inspector");
    expect(firstTab(record({ verification: verified("holds") }))).toBe("guarantees");
    expect(firstTab(record({ runs: [run("agrees")] }))).toBe("runs");
    const both = { runs: [run("agrees")], verification: verified("broken") };
    expect(firstTab(record(both))).toBe("guarantees");
  });

  test("a run that a machine cannot do opens Runs, and no green tick", async () => {
    const store = new Store(
      new FakeHost({
        record: record({ runs: [run("unavailable", "cuda:0")] }),
        attempts: [headOf(judged("open", DID_NOT_RUN))],
        setups: { devices: ["cpu"], backends: [], delegates: [] },
      }),
    );
    await store.show(0);
    await act(() => render(<App store={store} />, page));
    expect(store.tab.value).toBe("runs");
    expect(page.querySelector("[data-testid=verdict]")?.className).toContain("tx-mark-warn");
    const said = page.querySelector<HTMLElement>("[data-testid=tab-status]");
    expect(said?.textContent).toBe("did not run on cuda:0");
    store.open("inspector");
    await act(() => said?.querySelector("button")?.click());
    expect(store.tab.value).toBe("runs");
    const tab = page.querySelector("[data-tab=runs]");
    expect(tab?.getAttribute("title")).toBe("Runs: did not run on cuda:0");
  });

  test("more that is known of a program on screen opens nothing: who looks decides", async () => {
    const host = new FakeHost({ record: record() });
    const store = new Store(host);
    await store.show(0);
    store.open("signature");
    host.change({
      record: record({ verification: verified("holds") }),
      attempts: [headOf(null, { revision: 1 })],
    });
    await new Promise((resolve) => setTimeout(resolve, 0));
    expect(store.program.value?.record.verification).not.toBeNull();
    expect(store.tab.value).toBe("signature");
  });

  test("says where the click was that an action runs", async () => {
    const { store } = storeOf(record(), {
      setups: { devices: ["cpu"], backends: [], delegates: [] },
    });
    store.open("guarantees");
    await act(() => render(<App store={store} />, page));
    const button = page.querySelector<HTMLElement>("[data-testid=verify]");
    const app = page.querySelector<HTMLElement>(".tx-app");
    if (!button || !app) throw new Error("there is no button");
    const rect = (top: number, left: number, width: number, height: number) =>
      ({ top, left, width, height, bottom: top + height, right: left + width }) as DOMRect;
    app.getBoundingClientRect = () => rect(100, 50, 1000, 600);
    button.getBoundingClientRect = () => rect(300, 700, 60, 24);
    const pane = button.closest("[data-pane]") as HTMLElement;
    pane.getBoundingClientRect = () => rect(200, 650, 400, 300);
    await act(() => button.click());
    const bar = page.querySelector<HTMLElement>("[data-testid=working]");
    expect(bar?.textContent).toContain("Verifying");
    expect([bar?.style.top, bar?.style.left, bar?.style.width]).toEqual([
      "228px",
      "600px",
      "400px",
    ]);
  });
});

describe("the release verdict", () => {
  const items = [
    claim("export", { sentence: "Exported." }),
    claim("verification", {
      state: "bad",
      sentence: "1 guarantee is broken.",
      command: "ex.findings",
    }),
    claim("runs", { state: "open", sentence: "Not run.", command: "ex.run()" }),
    claim("sizes", { state: "none", sentence: "All are static." }),
  ];
  const release = { ...judged("bad", ...items), sentence: "Not ready to ship." };

  async function shown(of: Record): Promise<Store> {
    const host = new FakeHost({ record: of });
    const store = new Store(host);
    await store.show(0);
    await act(() => render(<App store={store} />, page));
    await act(() => host.change({ attempts: [headOf(release)] }));
    return store;
  }
  const face = () =>
    [...page.querySelectorAll("button")].find((each) => each.textContent === "Not ready to ship");
  const marked = (): (string | null)[] =>
    [...page.querySelectorAll(".tx-tab-status-open")].map(
      (each) => each.closest("[role=tab]")?.getAttribute("data-tab") ?? null,
    );

  test("is marks in the tabs until something was asked for", async () => {
    await shown(record());
    expect(face()).toBeUndefined();
    expect(marked()).toEqual(["runs"]);
  });

  test("is a word whose answers open their panes, once something was", async () => {
    const store = await shown({ ...layeredProgram(2).record, verification: verified("broken") });
    expect(marked()).toEqual([]);
    await act(() => face()?.click());
    const items = [...page.querySelectorAll("[data-testid=release] li")];
    expect(items.map((each) => each.textContent)).toEqual([
      "✓ good: export Exported.",
      "✗ wrong: verification 1 guarantee is broken. In Python: ex.findings",
      "? open: runs Not run. In Python: ex.run()",
      "– nothing to check: sizes All are static.",
    ]);
    await act(() => items[1]?.querySelector("button")?.click());
    expect(store.tab.value).toBe("guarantees");
    expect(page.querySelector("[data-testid=release]")).toBeNull();
  });
});
