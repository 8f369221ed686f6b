import { render } from "preact";
import { act } from "preact/test-utils";
import { describe, expect, test } from "vitest";
import type { Setups } from "../../host";
import { totalsBy } from "../../profile";
import { nodeId } from "../../program";
import type { Profile, Record, RunRow } from "../../record.gen";
import { type Answers, type FakeHost, storeOf } from "../../testing/fake_host";
import { freshPage, page } from "../../testing/page";
import { RecordBuilder } from "../../testing/records";
import { Runs } from "./Runs";
import { baseOf, detailsOf, groupsOf, speedOf } from "./run_facts";

const MARKUP = "<img src=x onerror=alert(1)>";

freshPage();

const TIMES = { median: 0.002, spread: 0.0001, calls: 100, first: 0.01, prepare: 3.25 };

function row(backend: string, changes: Partial<RunRow> = {}): RunRow {
  return {
    backend,
    title: `by ${backend}`,
    device: "cpu",
    inputs: "batch=2",
    outcome: "agrees",
    sentence: "Agrees with eager.",
    detail: "",
    error: { absolute: 0, relative: 0, ulps: 0 },
    times: TIMES,
    memory: 20_000,
    size: -1,
    saved: "",
    node: -1,
    where: "",
    torch_version: "2.13.0",
    calls: 1,
    lost: [],
    ...changes,
  };
}

const PROFILE: Profile = {
  device: "cpu",
  inputs: "batch=2",
  runs: 5,
  microseconds: [-1, 30, 10, -1],
  bytes: [-1, 0, 4096, -1],
  total: 40,
};

const SETUPS: Setups = {
  devices: ["cpu", "cuda:0"],
  backends: [
    { name: "eager", title: "eager module", missing: [null, null], without_values: "none" },
    { name: "program", title: "exported program", missing: [null, null], without_values: "none" },
    { name: "onnx", title: "ONNX Runtime", missing: [null, "no provider"], without_values: "none" },
    { name: "tensorrt", title: MARKUP, missing: ["needs a GPU", null], without_values: "none" },
  ],
  delegates: [],
};

/** x → relu → sin → output. */
function record(changes: Partial<Record> = {}): Record {
  const build = new RecordBuilder("net(x)");
  build.output([build.call("sin", [build.call("relu", [build.input("x", [4])])])]);
  return { ...build.record(), ...changes };
}

async function show(shown: Record, answers: Answers = {}) {
  const { store, program } = storeOf(shown, { setups: SETUPS, ...answers });
  await act(() => render(<Runs store={store} program={program} />, page));
  await act(() => Promise.resolve());
  return { store, program, host: store.host as FakeHost };
}

const at = (id: string): HTMLElement => {
  const found = page.querySelector<HTMLElement>(`[data-testid="${id}"]`);
  if (!found) throw new Error(`no ${id}`);
  return found;
};

describe("the form", () => {
  test("asks for a run by what is chosen, on the device that is chosen", async () => {
    const { host } = await show(record(), { action: () => ({ sentence: "" }), record: record() });
    expect(page.textContent).toContain("Not run yet");
    expect(page.textContent).toContain("1 more backend cannot run here");
    expect(page.textContent).toContain(MARKUP);
    expect(page.querySelector("img")).toBeNull();
    await act(() => at("backend-onnx").click());
    await act(() => at("run").click());
    const request = host.requests[host.asked.indexOf("run")];
    const asked = { attempt: 0, device: "cpu", backends: ["eager", "program", "onnx"] };
    expect(request).toEqual({ ...asked, sizes: null });
  });

  test("has no backend that lacks something on the device", async () => {
    await show(record());
    const device = page.querySelector("select");
    if (!device) throw new Error("no device to choose");
    device.value = "cuda:0";
    await act(() => void device.dispatchEvent(new Event("change", { bubbles: true })));
    expect(page.querySelector('[data-testid="backend-onnx"]')).toBeNull();
    expect(at("backend-tensorrt")).toBeTruthy();
    expect(page.textContent).toContain("no provider");
  });

  test("is not there on a frozen page, where the rows are", async () => {
    await show(record({ runs: [row("eager")] }), { live: false });
    expect(page.querySelector("form")).toBeNull();
    expect(at("run-eager").textContent).toContain("2 ms");
    await show(record(), { live: false });
    expect(page.textContent).toBe("The program was not run before this page was saved.");
  });
});

describe("the table", () => {
  test("says how each run went", async () => {
    const slow = { ...TIMES, median: 0.004 };
    const differs = row("openvino", {
      outcome: "differs",
      sentence: `Other values than eager: ${MARKUP}.`,
      error: { absolute: 0.0012, relative: 0.5, ulps: 900 },
      times: slow,
      node: 2,
    });
    const failed = row("onnx", {
      outcome: "failed",
      sentence: "ONNX Runtime cannot compile this program: no.",
      detail: MARKUP,
      times: null,
      error: null,
    });
    const { store } = await show(record({ runs: [row("eager"), differs, failed] }));
    expect(at("run-openvino").textContent).toContain("2× slower");
    expect(at("run-openvino").textContent).toContain("1.2e-3");
    expect(at("run-openvino").querySelector("th[scope=row]")?.textContent).toContain("openvino");
    expect(at("run-onnx").querySelector("th[scope=row]")?.textContent).toContain("onnx");
    expect(at("run-onnx").textContent).toContain("cannot compile");
    expect(at("run-onnx").querySelector("pre")?.textContent).toBe(MARKUP);
    expect(page.querySelector("img")).toBeNull();
    await act(() => at("run-openvino").querySelector<HTMLElement>(".tx-link")?.click());
    expect(store.selection.value).toEqual({ kind: "nodes", nodes: [nodeId(0, 2)] });
  });

  test("is one per device and inputs, held against eager, else the program", () => {
    const rows = [row("program"), row("program", { inputs: "batch=3" }), row("eager")];
    expect(groupsOf(rows).map(([title, group]) => [title, group.length])).toEqual([
      ["cpu, batch=2", 2],
      ["cpu, batch=3", 1],
    ]);
    expect(baseOf([row("onnx")])).toBeNull();
    expect(baseOf([row("program", { times: { ...TIMES, median: 7 } })])?.median).toBe(7);
  });

  test("speed is said in words, beside eager", () => {
    expect(
      [0.0014, 0.0005, 0.00102].map((median) =>
        speedOf({ ...TIMES, spread: 0, median }, { ...TIMES, spread: 0, median: 0.001 }),
      ),
    ).toEqual(["1.4× slower", "2× faster", "same"]);
  });

  test("calls that vary more than they are apart are no slower", () => {
    const loud = { ...TIMES, median: 0.122, spread: 0.225 };
    expect(speedOf(loud, { ...TIMES, median: 0.067, spread: 0.01 })).toBe("within noise");
  });

  test("calls that vary much are said to be noisy", () => {
    expect(detailsOf(row("eager"), { ...TIMES, spread: 0.001 })).toContain("± 1 ms (noisy");
  });

  test("details name what is known alone", () => {
    expect(detailsOf(row("eager"), TIMES)).toBe("± 100 µs, first call 10 ms, takes under 1 MB");
    const held = [1_000_000, 20_000].map((memory) => row("eager", { memory, device: "cuda:0" }));
    expect(
      [row("eager", { memory: 1_000_000 }), ...held].map(
        (each) => detailsOf(each, TIMES).split("takes ")[1],
      ),
    ).toEqual(["1.0 MB", "1.0 MB", "20.0 kB"]);
    const aoti = row("aoti", { memory: -1, size: 1_600_000 });
    expect(detailsOf(aoti, TIMES)).toBe(
      "± 100 µs, first call 10 ms, compiled in 3.25 s, 1.6 MB on disk",
    );
  });
});

describe("the profile", () => {
  test("colours by what is chosen, and a row selects its ops", async () => {
    const { store } = await show(record({ profile: PROFILE }));
    const rows = at("costs").querySelectorAll<HTMLElement>("tbody tr");
    expect(rows[0]?.textContent).toContain("relu");
    expect(rows[0]?.textContent).toContain("30 µs");
    expect(rows[0]?.textContent).toContain("75 %");
    await act(() => rows[0]?.click());
    expect(store.selection.value).toEqual({ kind: "nodes", nodes: [1] });
    const heat = at("heat") as HTMLSelectElement;
    heat.value = "memory";
    await act(() => void heat.dispatchEvent(new Event("change", { bubbles: true })));
    expect(store.colouring.value?.name).toBe("memory");
    expect(at("costs").querySelector("tbody tr")?.textContent).toContain("sin");
  });

  test("adds up over kinds of op", () => {
    const { program } = storeOf(record({ profile: PROFILE }));
    expect(totalsBy(program, PROFILE.microseconds, "op").map((each) => each.cost)).toEqual([
      30, 10,
    ]);
  });
});
