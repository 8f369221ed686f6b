import { afterEach, beforeEach, expect, test, vi } from "vitest";
import loader from "./loader";
import { bytesOf, FakeModel, type Sent } from "./testing/fake_model";
import { soon } from "./testing/soon";

const BUNDLES = Symbol.for("export-explorer.bundles");

/** A bundle that says so in the element. */
const source = (text: string): DataView =>
  bytesOf(`export const mount = ({ el }) => {
    el.textContent = ${JSON.stringify(text)};
    return () => { el.textContent = "gone"; };
  };`);

/** A bundle that shows what the layout worker's code is. */
const showing = (): DataView =>
  bytesOf(`export const mount = ({ el, layout }) => {
    layout.then((code) => { el.textContent = code; }, () => { el.textContent = "none"; });
    return () => {};
  };`);

const worker = (code: string): DataView => bytesOf(`export default ${JSON.stringify(code)};`);

/** A kernel that sends the bundle, and no layout worker. */
const answering =
  (text: string) =>
  ({ id, ask }: Sent, model: FakeModel): void => {
    if (ask === "bundle") model.reply({ id, ok: true, value: null }, [source(text)]);
  };

function render(model: FakeModel): { el: HTMLElement; done: Promise<(() => void) | undefined> } {
  const el = document.createElement("div");
  return { el, done: loader.render({ model: model as never, el }) };
}

beforeEach(() => {
  // A test's page has no blob: modules; the way by data: is the one for pages that forbid them.
  vi.spyOn(URL, "createObjectURL").mockReturnValue(
    "data:text/javascript,throw new Error('no blob')",
  );
  vi.spyOn(URL, "revokeObjectURL").mockReturnValue();
});

afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
  Reflect.deleteProperty(globalThis, BUNDLES);
});

test("the bundle is asked for once, whatever the number of outputs", async () => {
  const first = new FakeModel({ bundle: "abc" }, answering("hello"));
  const second = new FakeModel({ bundle: "abc" }, answering("never asked"));
  const one = render(first);
  const two = render(second);
  await Promise.all([one.done, two.done]);
  expect([one.el.textContent, two.el.textContent]).toEqual(["hello", "hello"]);
  expect(first.sent.map(({ ask }) => ask)).toEqual(["bundle", "layout"]);
  expect(second.sent).toEqual([]);
});

test("the layout worker is asked for beside the bundle, once, and not waited for", async () => {
  const open: Sent[] = [];
  const first = new FakeModel({ bundle: "abc" }, (message, model) => {
    if (message.ask === "layout") open.push(message);
    else model.reply({ id: message.id, ok: true, value: null }, [showing()]);
  });
  const one = render(first);
  await one.done;
  expect(one.el.textContent).toBe("");
  first.reply({ id: open[0]?.id, ok: true, value: null }, [worker("<b>code</b>")]);
  await soon(() => expect(one.el.textContent).toBe("<b>code</b>"));
  const second = new FakeModel({ bundle: "abc" });
  const two = render(second);
  await two.done;
  await soon(() => expect(two.el.textContent).toBe("<b>code</b>"));
  expect(second.sent).toEqual([]);
});

test("a view without the layout worker is shown, and the next one asks again", async () => {
  const refusing = new FakeModel({ bundle: "abc" }, ({ id, ask }, model) =>
    ask === "layout"
      ? model.reply({ id, ok: false, error: "not built" })
      : model.reply({ id, ok: true, value: null }, [showing()]),
  );
  const { el, done } = render(refusing);
  await done;
  await soon(() => expect(el.textContent).toBe("none"));
  const next = new FakeModel({ bundle: "abc" }, ({ id }, model) =>
    model.reply({ id, ok: true, value: null }, [worker("here")]),
  );
  const later = render(next);
  await later.done;
  await soon(() => expect(later.el.textContent).toBe("here"));
  expect(next.sent.map(({ ask }) => ask)).toEqual(["layout"]);
});

test("another version of the bundle is another bundle", async () => {
  await render(new FakeModel({ bundle: "old" }, answering("old"))).done;
  const newer = render(new FakeModel({ bundle: "new" }, answering("new")));
  await newer.done;
  expect(newer.el.textContent).toBe("new");
});

test("a widget that carries the bundle makes the question needless", async () => {
  const holder = {
    get: (name: string) => (name === "bundle" ? source("carried") : worker("carried, too")),
  };
  const model = new FakeModel({ bundle: "abc", bundle_model: "holder" });
  Object.assign(model, { widget_manager: { get_model: async () => holder } });
  const { el, done } = render(model);
  await done;
  expect(el.textContent).toBe("carried");
  expect(model.sent).toEqual([]);
});

const STILL = { text: "small(x): exported", picture: "<svg onload='x()'><b>no</b></svg>" };

test("a view that is read from a saved notebook is a static picture, and asks nobody", async () => {
  const model = new FakeModel({ bundle: "abc", own: "me", still: STILL });
  const asked: string[] = [];
  const get_model = async (id: string) => {
    asked.push(id);
    return { comm_live: false };
  };
  Object.assign(model, { widget_manager: { get_model } });
  const { el, done } = render(model);
  expect(await done).toBeUndefined();
  expect(asked).toEqual(["me"]);
  expect(el.querySelector("pre")?.textContent).toBe("small(x): exported");
  expect(el.querySelector("img")?.src).toContain("data:image/svg+xml,%3Csvg");
  expect(el.querySelector("b, svg")).toBeNull();
  expect(el.textContent).toContain("Run the cell again to explore it.");
  expect(model.sent).toEqual([]);
});

test.each([
  [null],
  ["<b>all</b>"],
  [{ text: { b: 1 }, picture: ["<svg>"] }],
  [{ text: 3, picture: "\ud800" }],
])(
  "what a stranger wrote into a saved view, %j, is left out where it is not a string",
  async (still) => {
    const model = new FakeModel({ bundle: "abc", own: "me", still });
    Object.assign(model, { widget_manager: { get_model: async () => ({ comm_live: false }) } });
    const { el, done } = render(model);
    expect(await done).toBeUndefined();
    expect(el.textContent).toBe(
      "A static picture: the kernel that drew it is gone. Run the cell again to explore it.",
    );
    expect(el.querySelector("b, pre")).toBeNull();
  },
);

test("while the kernel is waited for there is a static picture, and then the view", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  const model = new FakeModel({ bundle: "abc", own: "me", still: STILL });
  Object.assign(model, { widget_manager: { get_model: async () => ({ comm_live: true }) } });
  const { el, done } = render(model);
  await vi.advanceTimersByTimeAsync(2000);
  expect(el.querySelector("img")).not.toBeNull();
  expect(el.textContent).toContain("Waiting for the kernel");
  vi.useRealTimers();
  answering("here")(model.sent[0] as Sent, model);
  await done;
  expect(el.textContent).toBe("here");
});

test("what mount gives back takes the view away", async () => {
  const { el, done } = render(new FakeModel({ bundle: "abc" }, answering("here")));
  (await done)?.();
  expect(el.textContent).toBe("gone");
});

test("a refusal is shown as a plain sentence, and the next widget asks for itself", async () => {
  const markup = "<b>not built</b>";
  const refusing = new FakeModel({ bundle: "abc" }, ({ id }, model) =>
    model.reply({ id, ok: false, error: markup }),
  );
  const refused = render(refusing);
  expect(await refused.done).toBeUndefined();
  expect(refused.el.textContent).toBe(markup);
  expect(refused.el.querySelector("b")).toBeNull();
  const next = render(new FakeModel({ bundle: "abc" }, answering("there")));
  await next.done;
  expect(next.el.textContent).toBe("there");
});

test("a first asker without an answer holds up nobody for long", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  const dead = render(new FakeModel({ bundle: "abc" }));
  const alive = new FakeModel({ bundle: "abc" }, answering("alive"));
  const second = render(alive);
  await vi.advanceTimersByTimeAsync(1000);
  expect(alive.sent).toEqual([]);
  await vi.advanceTimersByTimeAsync(4000);
  vi.useRealTimers();
  await second.done;
  expect(second.el.textContent).toBe("alive");
  expect(dead.el.textContent).toContain("Waiting for the kernel");
});
