import { render } from "preact";
import { act } from "preact/test-utils";
import { expect, test } from "vitest";
import type { ReleaseItem } from "../../messages.gen";
import type { FindingRow, GuaranteeRow, Record, Verification } from "../../record.gen";
import { type Answers, type FakeHost, plainLines, storeOf } from "../../testing/fake_host";
import { claim, headOf, judged } from "../../testing/heads";
import { tracedRecord } from "../../testing/models";
import { at, freshPage, page } from "../../testing/page";
import { fixCard } from "../../testing/records";
import { Findings } from "../findings/Findings";
import { Verify } from "./Verify";

const MARKUP = "<img src=x onerror=alert(1)>";

freshPage();

function contract(fields: Partial<Record> = {}): Record {
  return { ...tracedRecord().record(), ...fields };
}

async function show(Pane: typeof Findings, record: Record, answers: Answers = {}) {
  const { store, program } = storeOf(record, { record, ...answers });
  await act(async () => render(<Pane store={store} program={program} />, page));
  return { store, program, host: store.host as FakeHost };
}

const finding = (more: Partial<FindingRow> = {}): FindingRow => ({
  kind: "baked-value",
  heading: "A Python value baked in",
  severity: "wrong",
  sentence: `The value that \`id(x)\` had ${MARKUP}`,
  why: "It changes.",
  stack: -1,
  node: -1,
  guard: -1,
  fix: -1,
  card: null,
  code: "EX201",
  ...more,
});

test("a finding's code opens the page on it, as text", async () => {
  const explain = {
    code: "EX201",
    title: "A Python value baked in",
    means: MARKUP,
    cure: "Pass it in.",
    why: "Python runs once.",
    lines: plainLines("import time"),
  };
  await show(Findings, contract({ findings: [finding()] }), { explain });
  const details = page.querySelector<HTMLDetailsElement>(".tx-code-page");
  expect(details?.querySelector("summary")?.textContent).toBe(
    "EX201: what it means, and what to do",
  );
  await act(async () => {
    if (details) details.open = true;
    details?.dispatchEvent(new Event("toggle"));
  });
  await act(async () => new Promise((done) => setTimeout(done, 5)));
  const text = page.querySelector('[data-testid="code-page"]')?.textContent;
  expect(text).toContain(MARKUP);
  expect(text).toContain("import time");
  expect(page.querySelector("img")).toBeNull();
});

test("a finding says what and why, as text, and offers its fix", async () => {
  const card = fixCard({ title: "Copy it" });
  const { host } = await show(Findings, contract({ findings: [finding({ fix: 3, card })] }));
  expect(page.textContent).toContain(MARKUP);
  expect(page.querySelector("img")).toBeNull();
  expect(page.querySelector("code")?.textContent).toBe("id(x)");
  const apply = [...page.querySelectorAll("button")].find((each) => each.textContent === "Apply");
  await act(() => apply?.click());
  expect(host.asked).toContain("apply");
  expect(host.requests.at(-1)).toMatchObject({ fixes: [3] });
});

test("an export without findings says what was looked for", async () => {
  await show(Findings, contract());
  expect(page.textContent).toContain("No findings");
  expect(page.querySelector('[data-testid="not-looked-for"]')).toBeNull();
});

test("a file's findings say which kinds were not looked for, as text", async () => {
  await show(Findings, contract({ mode: "loaded", not_looked_for: ["A device", MARKUP] }));
  const unknown = page.querySelector('[data-testid="not-looked-for"]');
  expect(unknown?.textContent).toContain("its source");
  expect([...(unknown?.querySelectorAll("li") ?? [])].map((each) => each.textContent)).toEqual([
    "A device",
    MARKUP,
  ]);
  expect(page.querySelector("img")).toBeNull();
  expect(page.textContent).not.toContain("No findings:");
});

const row = (name: string, verdict: GuaranteeRow["verdict"]): GuaranteeRow => ({
  name,
  code: "EX301",
  claim: `${name} is promised.`,
  verdict,
  sentence: "Looked at.",
  evidence: ["what was seen"],
  node: -1,
  lacking: "",
  report: "",
});

test("verifying is asked for, and what is broken comes first", async () => {
  const { host } = await show(Verify, contract());
  expect(page.textContent).toContain("Not verified yet");
  await act(() => at("verify").click());
  expect(host.asked).toContain("verify");
  expect(host.requests.at(-1)).toMatchObject({ attempt: 0, sizes: 8 });
  const verification: Verification = {
    verdict: "broken",
    sentence: "1 guarantee holds, 1 is broken.",
    rows: [row("flat", "holds"), row("sound", "broken")],
    seconds: 1.5,
    trials: [],
    left_out: [],
  };
  await show(Verify, contract({ verification }));
  const names = [...page.querySelectorAll("li[data-testid]")].map((each) =>
    each.getAttribute("data-testid"),
  );
  expect(names).toEqual(["guarantee-sound", "guarantee-flat"]);
  expect(
    at("guarantee-sound").querySelector("details:not(.tx-code-page)")?.hasAttribute("open"),
  ).toBe(true);
  expect(
    at("guarantee-flat").querySelector("details:not(.tx-code-page)")?.hasAttribute("open"),
  ).toBe(false);
});

test("a tick stands for what holds alone, and a check that failed has a report to copy", async () => {
  const failed = { ...row("sound", "not checked"), report: "versions and traceback" };
  const shown = {
    sentence: "1 holds, 1 was not checked.",
    seconds: 1,
    trials: [],
    left_out: [],
    rows: [row("flat", "holds")],
  };
  const mark = () => at("verification").querySelector(".tx-mark")?.textContent;
  const as = (state: ReleaseItem["state"]) => ({
    attempts: [headOf(judged("open", claim("verification", { state })))],
  });
  await show(
    Verify,
    contract({
      verification: { ...shown, verdict: "not checked", rows: [...shown.rows, failed] },
    }),
    as("open"),
  );
  expect(mark()).toBe("?");
  expect(at("verification").className).toContain("tx-judged-unchecked");
  expect(at("guarantee-sound").textContent).toContain("Copy the report");
  expect(at("guarantee-flat").textContent).not.toContain("Copy the report");
  await show(Verify, contract({ verification: { ...shown, verdict: "holds" } }), as("good"));
  expect(mark()).toBe("✓");
  await show(Verify, contract({ verification: { ...shown, verdict: "holds" } }), as("open"));
  expect(mark(), "all hold, and a run differs").toBe("?");
});

test("a frozen page has no button to verify, and explains none", async () => {
  await show(Verify, contract(), { live: false });
  expect(page.querySelector('[data-testid="verify"]')).toBeNull();
  expect(page.textContent).toContain("was not verified before this page was saved");
  await show(Findings, contract(), { live: false });
  expect(page.textContent).toContain("No findings");
  expect(page.textContent).not.toContain("Verify");
});
