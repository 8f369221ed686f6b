import { render } from "preact";
import { act } from "preact/test-utils";
import { expect, test } from "vitest";
import type { Bound, Record } from "../../record.gen";
import { type FakeHost, storeOf } from "../../testing/fake_host";
import { tracedRecord } from "../../testing/models";
import { at, freshPage, page } from "../../testing/page";
import { guardOf } from "../../testing/records";
import { chosenGuards, EVERY_GUARD } from "./guard_filter";
import { Shapes } from "./Shapes";

const MARKUP = "<img src=x onerror=alert(1)>";

freshPage();

function contract(fields: Partial<Record> = {}): Record {
  return { ...tracedRecord().record(), ...fields };
}

async function show(record: Record) {
  const { store, program } = storeOf(record, { record });
  await act(async () => render(<Shapes store={store} program={program} />, page));
  return { store, program };
}

test("each end of a range says where it comes from", async () => {
  const record = contract();
  const bounds: Bound[] = [
    { side: "lower", value: 3, origin: "default", text: `follows ${MARKUP}`, guard: -1 },
    { side: "upper", value: 16, origin: "guard", text: "batch <= 16", guard: 0 },
  ];
  const [symbol, ...others] = record.symbols;
  const symbols = symbol ? [{ ...symbol, bounds }, ...others] : [];
  const { store } = await show({ ...record, symbols });
  const [lower, upper] = [...at("symbol-0").querySelectorAll(".tx-origin")];
  expect(lower?.textContent).toBe(`≥ 3: follows ${MARKUP}`);
  expect(upper?.textContent).toContain("≤ 16: batch <= 16 Cell In[2]:4");
  await act(() => upper?.querySelector("button")?.click());
  expect(store.place.value).toEqual({ file: 0, line: 4 });
  expect(store.selection.value).toEqual({ kind: "none" });
});

test("a call is compared with itself under the other form of shapes, where torch has it", async () => {
  const answer = { attempt: 1, exported: true, lines: ["Same ops.", `  ${MARKUP}`] };
  const given = async (record: Record, live = true) => {
    const { store, program } = storeOf(record, { record, live, action: () => answer });
    await act(async () =>
      render(<Shapes key={record.title} store={store} program={program} />, page),
    );
    return store;
  };
  await given(contract());
  expect(page.querySelector("[data-testid=contracts]")).toBeNull();
  await given(contract({ other_form: "ShapesSpec" }), false);
  expect(page.querySelector("[data-testid=contracts]")).toBeNull();
  const store = await given(contract({ other_form: "ShapesSpec", title: "another" }));
  const button = at("contracts").querySelector("button");
  expect(button?.textContent).toBe("Compare with a ShapesSpec");
  await act(async () => {
    button?.click();
    await new Promise((done) => setTimeout(done));
  });
  expect((store.host as FakeHost).asked.at(-1)).toBe("contracts");
  expect(at("contracts").querySelector("pre")?.textContent).toBe(answer.lines.join("\n"));
  expect(at("contracts").querySelectorAll("button")[1]?.textContent).toBe("Both graphs");
});

test("an unbacked size of an input is not said to come from data", async () => {
  const record = contract();
  const place = { entry: 0, dim: 0, text: "x.shape[0]", size: "batch" };
  const [symbol, ...others] = record.symbols.map((each) => ({
    ...each,
    kind: "unbacked" as const,
  }));
  const tagged = async (io: "input" | "output") => {
    const symbols = symbol ? [{ ...symbol, places: [{ ...place, io }] }, ...others] : [];
    await show({ ...record, symbols });
    return at("symbol-0").querySelector(".tx-tag")?.textContent;
  };
  expect(await tagged("input")).toBe("unbacked");
  expect(await tagged("output")).toBe("data-dependent");
});

test("guards are filtered by text, by size and by input; those implied only when asked for", async () => {
  const guards = [
    guardOf("batch <= 16", { effect: "narrows", result: "batch in [2, 16]" }),
    guardOf("batch != 3", { symbols: [], inputs: [2], asked_by: "aten.mm.default" }),
    guardOf("batch >= 0", { effect: "implied" }),
  ];
  const { program } = await show(contract({ guards }));
  const chosen = (more: object) =>
    chosenGuards(program, { ...EVERY_GUARD, ...more }).map(([, each]) => each.text);
  expect(chosen({})).toEqual(["batch <= 16", "batch != 3"]);
  expect(chosen({ implied: true })).toHaveLength(3);
  expect(chosen({ text: "MM.def" })).toEqual(["batch != 3"]);
  expect(chosen({ about: "symbol 0" })).toEqual(["batch <= 16"]);
  expect(chosen({ about: "input 2" })).toEqual(["batch != 3"]);
  expect(page.textContent).toContain("narrows a range");
});

test("guards that others imply are counted, and shown when asked for, however few", async () => {
  const guards = [guardOf("batch <= 16"), guardOf("batch <= 99", { effect: "implied" })];
  await show(contract({ guards }));
  expect(at("guards").textContent).toContain("A guard is a condition on sizes");
  expect(at("guards").textContent).not.toContain("batch <= 99");
  expect(at("guards-implied").textContent).toContain("1 implied by others");
  await act(() => at("guards-implied").querySelector("input")?.click());
  expect(at("guards").textContent).toContain("batch <= 99");
});

test("guards are filtered in the pane, and an empty result says so", async () => {
  const record = contract();
  const guards = [
    ...record.guards,
    ...Array.from({ length: 8 }, (_, number) => guardOf(`batch != ${number + 20}`)),
  ];
  await show({ ...record, guards });
  const rows = () => at("guards").querySelectorAll("tbody tr").length;
  expect(rows()).toBe(9);
  const select = at("guards").querySelector("select") as HTMLSelectElement;
  const files = [...select.querySelectorAll('optgroup[label="Files"] option')];
  expect(files.map((each) => each.textContent)).toEqual(["Cell In[2]"]);
  await act(() => {
    select.value = "file 0";
    select.dispatchEvent(new Event("change", { bubbles: true }));
  });
  expect(rows()).toBe(1);
  const search = at("guards").querySelector("input[type=search]") as HTMLInputElement;
  await act(() => {
    search.value = "nothing like it";
    search.dispatchEvent(new Event("input", { bubbles: true }));
  });
  expect(at("guards").textContent).toContain("No guard matches. 9 guards in all");
});

test("a long timeline is cut off, and the rest is a click away", async () => {
  const event = { torch_text: "", symbols: [], stack: -1, guard: -1, count: 1 };
  const timeline = Array.from({ length: 230 }, (_, number) => ({
    ...event,
    kind: "range" as const,
    text: `batch in [2, ${number}]`,
  }));
  await show(contract({ timeline }));
  const rows = () => at("timeline").querySelectorAll("tbody tr").length;
  expect(rows()).toBe(200);
  const more = [...at("timeline").querySelectorAll("button")].at(-1);
  expect(more?.textContent).toBe("30 more");
  await act(() => more?.click());
  expect(rows()).toBe(230);
});

test("the timeline is folded, and counts what happens again", async () => {
  const event = { text: "batch != 1", torch_text: "s0 != 1", symbols: [0], stack: -1, guard: 0 };
  await show(contract({ timeline: [{ ...event, kind: "guard", count: 3 }] }));
  expect(at("timeline").hasAttribute("open")).toBe(false);
  expect(at("timeline").textContent).toContain("×3");
});
