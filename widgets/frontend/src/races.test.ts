/** What happens while something else is under way: the order of answers decides nothing. */

import { expect, test } from "vitest";
import type { Asks, AttemptHead, Host } from "./host";
import type { Record } from "./record.gen";
import { Store } from "./store";
import { encode } from "./testing/encode";
import { FakeHost } from "./testing/fake_host";
import { tracedRecord } from "./testing/models";

const head = (parent: number, revision = 0): AttemptHead => ({
  label: "non-strict",
  outcome: "exported",
  verdict: "exported",
  parent,
  step: "",
  revision,
  untrusted: false,
  release: null,
  name: "ex",
});

const titled = (title: string): Record => ({ ...tracedRecord().record(), title });

interface Held {
  kind: string;
  request: { attempt: number };
  give: (title: string) => void;
  answer: (value: unknown) => void;
  refuse: (why: string) => void;
}

/** A host whose answers come when, and in the order that, a test says. */
class SlowHost extends FakeHost {
  readonly open: Held[] = [];

  override ask<K extends keyof Asks>(
    kind: K,
    request: Asks[K]["request"],
  ): Promise<Asks[K]["reply"]> {
    return new Promise((resolve, reject) => {
      const answer = (value: unknown): void => resolve(value as Asks[K]["reply"]);
      this.open.push({
        kind,
        request: request as { attempt: number },
        give: (title) => answer(encode(titled(title))),
        answer,
        refuse: (why) => reject(new Error(why)),
      });
    });
  }

  asks(kind: string): Held[] {
    return this.open.filter((each) => each.kind === kind);
  }
}

const settle = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 0));

/** A store that shows the first of some attempts. */
async function showing(heads: AttemptHead[]): Promise<{ host: SlowHost; store: Store }> {
  const host = new SlowHost({ attempts: heads });
  const store = new Store(host as Host);
  void store.show(0);
  host.open[0]?.give("first");
  await settle();
  return { host, store };
}

const title = (store: Store): string | undefined => store.program.value?.record.title;

test("a fix is of the attempt on screen, while another is on its way", async () => {
  const { host, store } = await showing([head(-1), head(0)]);
  void store.show(1);
  expect([store.current.value, store.coming.value]).toEqual([0, 1]);
  void store.apply([0], "Applying");
  expect(host.asks("apply")[0]?.request.attempt).toBe(0);
});

test.each([
  ["verify", (store: Store) => store.verify(2)],
  ["run", (store: Store) => store.run("cpu", ["eager"], null)],
  ["profile", (store: Store) => store.profile("cpu", null)],
  ["decompose", (store: Store) => store.decompose("core")],
  ["autofix", (store: Store) => store.autofix()],
  ["contracts", (store: Store) => store.contracts()],
] as const)("%s is of the attempt on screen, while another is on its way", async (kind, act) => {
  const { host, store } = await showing([head(-1), head(0)]);
  void store.show(1);
  void act(store);
  expect(host.asks(kind)[0]?.request.attempt).toBe(0);
});

test("what was found out of one attempt does not take the reader away from another", async () => {
  const { host, store } = await showing([head(-1), head(0)]);
  const verified = store.verify(2);
  void store.show(1);
  host.asks("record")[1]?.give("second");
  await settle();
  host.asks("verify")[0]?.answer({ sentence: "" });
  await verified;
  expect(title(store)).toBe("second");
  expect(host.asks("record")).toHaveLength(2);
});

test("a late failure does not overwrite a success", async () => {
  const { host, store } = await showing([head(-1), head(0), head(0)]);
  void store.show(1);
  void store.show(2);
  host.asks("record")[2]?.give("third");
  await settle();
  host.asks("record")[1]?.refuse("That kernel is busy.");
  await settle();
  expect(store.status.value).toEqual({ kind: "ready" });
  expect([title(store), store.current.value]).toEqual(["third", 2]);
});

test("a late answer does not overwrite a newer one of the same attempt", async () => {
  const { host, store } = await showing([head(-1)]);
  host.change({ attempts: [head(-1, 1)] });
  host.change({ attempts: [head(-1, 2)] });
  host.asks("record")[2]?.give("verified and run");
  await settle();
  host.asks("record")[1]?.give("verified");
  await settle();
  expect(title(store)).toBe("verified and run");
});

test("what is found out elsewhere of the attempt on screen is shown, held or not", async () => {
  const { host, store } = await showing([head(-1), head(0)]);
  host.change({ current: 1 });
  host.asks("record")[1]?.give("second");
  await settle();
  void store.show(0);
  host.asks("record")[2]?.give("first");
  await settle();
  store.select({ kind: "nodes", nodes: [1] }, "graph");
  host.change({ attempts: [head(-1, 1), head(0)] });
  host.asks("record")[3]?.give("first, verified");
  await settle();
  expect(title(store)).toBe("first, verified");
  expect(store.selection.value).toEqual({ kind: "nodes", nodes: [1] });
});

test("a Record that is on its way already is not fetched again by who asked for it", async () => {
  const { host, store } = await showing([head(-1)]);
  const verified = store.verify(2);
  host.change({ attempts: [head(-1, 1)] });
  host.asks("record")[1]?.give("verified");
  host.asks("verify")[0]?.answer({ sentence: "" });
  await verified;
  expect(host.asks("record")).toHaveLength(2);
  expect(title(store)).toBe("verified");
});

test("a kernel that is gone is said, and nothing can be begun then", async () => {
  const { host, store } = await showing([head(-1)]);
  expect(store.busy.value).toBe(false);
  host.change({ lost: "The kernel was restarted" });
  expect([store.lost.value, store.busy.value]).toEqual(["The kernel was restarted", true]);
  await store.verify(2);
  expect(host.asks("verify")).toEqual([]);
  expect(title(store)).toBe("first");
});
