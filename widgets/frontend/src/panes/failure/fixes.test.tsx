import { render } from "preact";
import { act } from "preact/test-utils";
import { expect, test } from "vitest";
import type { AttemptHead, TokenLine } from "../../host";
import type { Record } from "../../record.gen";
import { depthOf, History } from "../../shell/History";
import { Outcome } from "../../shell/Outcome";
import { Working } from "../../shell/Working";
import { type Answers, type FakeHost, storeOf } from "../../testing/fake_host";
import { claim, judged } from "../../testing/heads";
import { freshPage, page } from "../../testing/page";
import { failureOf, fixCard, RecordBuilder } from "../../testing/records";
import { cut } from "../parts/CodeLine";
import { kindOf } from "../parts/Diff";
import { Failure, linesAround, markedOn } from "./Failure";

const MARKUP = "<img src=x onerror=alert(1)>";

freshPage();

const settle = () => act(() => new Promise<void>((resolve) => setTimeout(resolve, 5)));

function plain(): Record {
  const build = new RecordBuilder("model(x)");
  build.output([build.input("x", [4])]);
  return build.record();
}

async function fail(fields: Parameters<typeof failureOf>[0], answers: Answers = {}) {
  const failure = failureOf(fields);
  const record: Record = { ...plain(), outcome: "failed", failure };
  const { store, program } = storeOf(record, { record, ...answers });
  await act(() => render(<Failure store={store} program={program} failure={failure} />, page));
  return { store, host: store.host as FakeHost };
}

const buttons = (name: string) =>
  [...page.querySelectorAll("button")].filter((each) => each.textContent === name);

test("a fix says what it does, what changes and what it gives up", async () => {
  await fail({
    fixes: [
      fixCard({ title: "Keep b", lossy: true, gives_up: "b can only be 4", tried: true }),
      fixCard({
        kind: "code",
        diffs: ["@@ -1 +1 @@\n-if x:\n+torch.cond(x)"],
        before: "",
        after: "",
      }),
    ],
  });
  const [lossy, code] = [...page.querySelectorAll("[data-testid=fix]")];
  expect(lossy?.textContent).toContain("lossy");
  expect(lossy?.textContent).toContain("Gives up: b can only be 4");
  expect(lossy?.textContent).toContain("tried: the export succeeds");
  expect(code?.textContent).toContain("lossless");
  const word = code?.querySelector<HTMLElement>(".tx-badge-good");
  expect(word?.title).toContain("matches eager for every input that it accepts");
  expect(code?.querySelector(".tx-diff-added")?.textContent).toContain("+torch.cond(x)");
});

test("a fix of shapes is written as Dims or as a ShapesSpec, to copy", async () => {
  const forms = [
    { name: "Dims" as const, text: "x: 16*_s", python: "dims = <b>", reason: "" },
    { name: "ShapesSpec" as const, text: "x: s; s % 16 == 0", python: "spec = 1", reason: "" },
  ];
  const unsaid = { name: "Dims" as const, text: "", python: "", reason: "No Dim can say it." };
  await fail({ fixes: [fixCard({ forms }), fixCard({ forms: [unsaid] })] });
  expect(page.querySelector(".tx-forms-python")).toBeNull();
  await act(() => buttons("Dims")[0]?.click());
  expect(page.querySelector(".tx-forms-python")?.textContent).toBe("dims = <b>");
  await act(() => buttons("ShapesSpec")[0]?.click());
  expect(page.querySelector(".tx-forms-text")?.textContent).toBe("x: s; s % 16 == 0");
  expect(page.querySelector(".tx-forms-python")?.textContent).toBe("spec = 1");
  expect(buttons("Copy ShapesSpec")).toHaveLength(1);
  await act(() => buttons("ShapesSpec")[0]?.click());
  await act(() => buttons("Dims")[1]?.click());
  expect(page.textContent).toContain("No Dim can say it.");
  expect(page.querySelector(".tx-forms-python")).toBeNull();
});

test("Apply asks for that one fix, and shows the attempt it gave", async () => {
  const { store, host } = await fail(
    { fixes: [fixCard({}), fixCard({ title: "other" })] },
    { action: () => ({ attempt: 3 }) },
  );
  await act(() => buttons("Apply")[1]?.click());
  await settle();
  expect(host.requests[0]).toEqual({ attempt: 0, fixes: [1] });
  expect(store.current.value).toBe(3);
  expect(store.working.value).toBeNull();
});

test("ticked fixes are applied together", async () => {
  const { host } = await fail(
    { fixes: [fixCard({}), fixCard({}), fixCard({})] },
    { action: () => ({ attempt: 1 }) },
  );
  const boxes = [...page.querySelectorAll<HTMLInputElement>("input[type=checkbox]")];
  await act(() => boxes[2]?.click());
  expect(page.textContent).not.toContain("together");
  await act(() => boxes[0]?.click());
  await act(() => buttons("Apply 2 fixes together")[0]?.click());
  expect(host.requests[0]).toEqual({ attempt: 0, fixes: [0, 2] });
});

test("a refusal is said, and what was shown stays", async () => {
  const { store } = await fail({ fixes: [fixCard({})] }, { action: () => "Interrupted." });
  await act(() => buttons("Apply")[0]?.click());
  await settle();
  expect(store.ended.value).toBe("Interrupted.");
  expect(store.current.value).toBe(0);
});

test("only lossless fixes are applied automatically, and a report is left", async () => {
  await fail({ fixes: [fixCard({ lossy: true })] });
  expect(buttons("Fix automatically")).toEqual([]);
  const { store } = await fail(
    { fixes: [fixCard({})] },
    { action: (kind) => (kind === "autofix" ? { attempt: 1, report: "One fix." } : null) },
  );
  await act(() => buttons("Fix automatically")[0]?.click());
  await settle();
  expect(store.ended.value).toBe("One fix.");
});

test("while an action runs, nothing else can be started, and Stop interrupts", async () => {
  const { store, host } = await fail({ fixes: [fixCard({}), fixCard({})] });
  await act(() => buttons("Apply")[0]?.click());
  expect(buttons("Apply").every((each) => each.disabled)).toBe(true);
  let stopped = 0;
  host.interrupt = () => {
    stopped += 1;
  };
  await act(() => render(<Working store={store} />, page));
  await act(() => host.tell({ done: 2, total: 7, label: "layers.1" }));
  expect(page.querySelector("progress")?.value).toBe(2);
  expect(page.textContent).toContain("layers.1");
  await act(() => buttons("Stop")[0]?.click());
  expect(stopped).toBe(1);
});

test("without a fix it says what to do, and a frozen page has no buttons", async () => {
  await fail({ known: false });
  expect(page.textContent).toContain("No fix is known");
  expect(page.textContent).not.toContain("line above"); // its text may not be at hand
  expect(page.textContent).toContain("does not recognize this failure");
  await fail({ fixes: [fixCard({})] }, { live: false });
  expect([...page.querySelectorAll("button")]).toEqual([]);
});

test("a script that fails the same is asked for, shown as text and copied as an issue", async () => {
  const { store } = await fail(
    {},
    {
      action: (kind) =>
        kind === "reproduce"
          ? { lines: [[["", MARKUP]]], script: MARKUP, sentence: "9 lines", issue: MARKUP }
          : null,
    },
  );
  expect(buttons("Copy the issue")).toHaveLength(0);
  await act(() => buttons("Report it")[0]?.click());
  await settle();
  expect(page.querySelector("[data-testid=reproduced]")?.textContent).toContain(MARKUP);
  expect(page.querySelector("[data-testid=report-it]")?.textContent).toContain("9 lines");
  expect(buttons("Copy the issue")).toHaveLength(1);
  expect(page.querySelector("img")).toBeNull();
  expect(store.ended.value).toBe("");
});

test("code in a sentence stands out, and stays text", async () => {
  await fail({ sentence: "Depends on `x.sum() > 0`, and `<b>y</b>`" });
  const codes = [...page.querySelectorAll(".tx-failure-sentence code")];
  expect(codes.map((each) => each.textContent)).toEqual(["x.sum() > 0", "<b>y</b>"]);
});

test("no text of a failure is markup, and only https links are links", async () => {
  await fail({
    kind: MARKUP,
    why: MARKUP,
    links: [
      { kind: "docs", name: MARKUP, text: MARKUP, url: "javascript:alert(1)" },
      { kind: "docs", name: "docs", text: "", url: "https://pytorch.org/x" },
    ],
    fixes: [
      fixCard({ title: MARKUP, why: MARKUP, before: MARKUP, gives_up: MARKUP, diffs: [MARKUP] }),
    ],
  });
  expect(page.querySelector("img")).toBeNull();
  expect([...page.querySelectorAll("a")].map((each) => each.getAttribute("href"))).toEqual([
    "https://pytorch.org/x",
  ]);
});

test("a case and a graph break that a failure links to are shown in place", async () => {
  const links = [
    { kind: "exportdb" as const, name: "cond_predicate", text: "", url: "" },
    { kind: "graph-break" as const, name: "GB0170", text: "", url: "" },
  ];
  const found = { name: "cond_predicate", title: "", description: MARKUP, tags: ["torch.cond"] };
  const rest = { level: "supported" as const, source: "", inputs: [], shapes: "", explains: [] };
  const breakPage = { name: "GB0170", title: "", explanations: [MARKUP], hints: ["Use `cond`"] };
  await fail(
    { links },
    {
      case: { case: { ...found, ...rest }, lines: [[["k", "import"]]] },
      break: { page: { ...breakPage, contexts: [], url: "javascript:alert(1)" } },
    },
  );
  for (const each of page.querySelectorAll<HTMLDetailsElement>("li details")) {
    await act(async () => {
      each.open = true;
      each.dispatchEvent(new Event("toggle"));
    });
  }
  await act(async () => {}); // the last answer
  expect(page.querySelector('[data-testid="linked-case"]')?.textContent).toContain("import");
  const shown = page.querySelector('[data-testid="linked-break"]');
  expect(shown?.textContent).toContain("Use cond");
  expect(page.querySelector("img")).toBeNull();
  expect(shown?.querySelector("a")).toBeNull();
});

test("what a failure links to is not offered where no kernel has it", async () => {
  const link = { kind: "exportdb" as const, name: "cond_predicate", text: "", url: "" };
  await fail({ links: [link] }, { live: false });
  expect(page.textContent).not.toContain("Show the case");
});

test("a fixed program says by what, whether it is right, and can be undone", async () => {
  const check = {
    verdict: "refused" as const,
    sentence: "Refuses b = 7.",
    trials: [{ sizes: "b = 7", outcome: "refused" as const, error: 0, detail: "b == 4" }],
  };
  const record: Record = {
    ...plain(),
    fixed_by: ["Say so"],
    given_up: ["It rejects b = 8."],
    fixed_code: ["+x"],
    check,
  };
  const heads: AttemptHead[] = [
    {
      label: "",
      outcome: "failed",
      verdict: "",
      parent: -1,
      step: "",
      revision: 0,
      untrusted: false,
      release: null,
      name: "ex",
    },
    {
      label: "",
      outcome: "exported",
      verdict: "",
      parent: 0,
      step: "Say so",
      revision: 0,
      untrusted: false,
      release: judged("bad", claim("export", { state: "bad" })),
      name: "ex",
    },
  ];
  const { store, program } = storeOf(record, { record, attempts: heads, action: () => null });
  store.current.value = 1;
  await act(() => render(<Outcome store={store} program={program} />, page));
  expect(page.textContent).toContain("Fixed by Say so");
  const warned = [...page.querySelectorAll(".tx-outcome-warn")].map((each) => each.textContent);
  expect(warned).toHaveLength(1);
  expect(warned[0]).toContain("Gives up: It rejects b = 8.");
  expect(warned[0]).toContain("Refuses b = 7.");
  await act(() => buttons("more")[0]?.click());
  expect(page.querySelector("table")?.textContent).toContain("refused: b == 4");
  await act(() => buttons("Undo")[0]?.click());
  expect((store.host as FakeHost).requests[0]).toEqual({ attempt: 0 });
  await act(() => page.querySelector<HTMLElement>("[aria-label=Dismiss]")?.click());
  expect(page.textContent).toBe("");
});

test("an attempt that still fails says which fix it came by, and goes back", async () => {
  const record: Record = {
    ...plain(),
    outcome: "failed",
    fixed_by: ["Say so"],
    fixed_code: ["+x"],
  };
  const heads: AttemptHead[] = [
    {
      label: "",
      outcome: "failed",
      verdict: "",
      parent: -1,
      step: "",
      revision: 0,
      untrusted: false,
      release: null,
      name: "ex",
    },
    {
      label: "",
      outcome: "failed",
      verdict: "",
      parent: 0,
      step: "Say so",
      revision: 0,
      untrusted: false,
      release: null,
      name: "ex",
    },
  ];
  const { store, program } = storeOf(record, { record, attempts: heads, action: () => null });
  store.current.value = 1;
  await act(() => render(<Outcome store={store} program={program} />, page));
  expect(page.textContent).toContain("Applied Say so. It still does not export");
  await act(() => buttons("more")[0]?.click());
  expect(page.textContent).toContain("Changed code: 1 file");
  await act(() => buttons("Undo")[0]?.click());
  expect((store.host as FakeHost).requests[0]).toEqual({ attempt: 0 });
});

test("the history shows each step, and goes back", async () => {
  const head = (parent: number, step: string, outcome: AttemptHead["outcome"]): AttemptHead => ({
    label: "non-strict",
    outcome,
    verdict: outcome,
    parent,
    step,
    revision: 0,
    untrusted: false,
    release: null,
    name: "ex",
  });
  const heads = [head(-1, "", "failed"), head(0, "one", "exported"), head(0, "two", "exported")];
  const { store } = storeOf(plain(), { attempts: heads, action: () => null });
  await act(() => render(<History store={store} />, page));
  await act(() => page.querySelector("button")?.click());
  expect(page.textContent).toContain("Attempt 1, non-strict");
  expect(page.textContent).toContain("in the kernel");
  expect(buttons("Use")).toHaveLength(2);
  await act(() => buttons("Use")[1]?.click());
  expect((store.host as FakeHost).requests[0]).toEqual({ attempt: 2 });
  expect([0, 1, 2].map((each) => depthOf(heads, each))).toEqual([0, 1, 1]);
});

test("a part of a line is marked across its tokens", () => {
  const line: [string, string][] = [
    ["k", "if "],
    ["n", "x.sum()"],
    ["", ":"],
  ];
  expect(cut(line, [5, 10])).toEqual([
    ["k", "if "],
    ["n", "x."],
    ["n tx-marked", "sum()"],
    ["", ":"],
  ]);
  expect(
    cut(
      [
        ["", "    y"],
        ["o", ")"],
      ],
      [0, Number.POSITIVE_INFINITY],
    ),
  ).toEqual([
    ["", "    "],
    [" tx-marked", "y"],
    ["o tx-marked", ")"],
  ]);
  expect(markedOn(3, [3, 2, 4, 5])).toEqual([2, Number.POSITIVE_INFINITY]);
  expect(markedOn(4, [3, 2, 4, 5])).toEqual([0, 5]);
  expect(markedOn(5, [3, 2, 4, 5])).toBeNull();
  expect(markedOn(5, [])).toBeNull();
});

test("lines of a diff are told apart", () => {
  expect(["+++ a", "--- a", "@@ 1", "+x", "-x", " x"].map(kindOf)).toEqual([
    "tx-diff-file",
    "tx-diff-file",
    "tx-diff-place",
    "tx-diff-added",
    "tx-diff-removed",
    "",
  ]);
});

test("around the failing line there are no blank lines at the ends", () => {
  const lines = ["", "a", "", "b", " ", "", "c"].map((text): TokenLine => [["", text]]);
  const numbers = (line: number): number[] => linesAround(lines, line).map(([number]) => number);
  expect(numbers(2)).toEqual([2, 3, 4]);
  expect(numbers(4)).toEqual([2, 3, 4, 5, 6, 7]);
  expect(numbers(6)).toEqual([2, 3, 4, 5, 6, 7]);
});
