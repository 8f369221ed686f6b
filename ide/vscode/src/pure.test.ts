import { expect, test } from "vitest";
import { pageHtml } from "./page_html";
import { failureOf } from "./python";
import { callablesIn, problemsIn } from "./sarif";

const failed = (error: string, code = 1) =>
  failureOf("/opt/my env/python", { out: "", error, code });

test("only scripts with the nonce run in the page, and nothing is fetched", () => {
  const html = pageHtml({ script: "https://r/webview.js", nonce: "abc" });
  const policy = /Content-Security-Policy" content="([^"]*)"/.exec(html)?.[1] ?? "";
  expect(policy).toContain("default-src 'none'");
  expect(policy).toMatch(/script-src 'nonce-abc' 'wasm-unsafe-eval';/);
  expect(policy).not.toMatch(/connect-src|unsafe-eval'(?<!wasm-unsafe-eval')|https?:/);
  expect(html.match(/<script/g)).toHaveLength(1);
});

test("a Python without the package, or an older one, says how to install it", () => {
  for (const said of [
    "/opt/python: No module named explorer",
    "No module named explorer.__main__; 'explorer' is a package and cannot be directly executed",
    "ModuleNotFoundError: No module named 'explorer.cli.page'",
  ]) {
    const { message, command, cures } = failed(said);
    expect(message).toContain("not installed in /opt/my env/python");
    expect(command).toBe('"/opt/my env/python" -m pip install --upgrade export-explorer');
    expect(cures).toContain("select-python");
  }
  expect(failed("No module named explorers").command).toBe("");
  expect(failed("unknown option -P\nusage: python", 2).message).toContain("older than 3.11");
});

test("what the command says is the sentence; any other end names its last line", () => {
  const refused = failed("A warning\nexport-explorer: m.pt2 is not an archive of a program.\n", 2);
  expect(refused.message).toBe("m.pt2 is not an archive of a program.");
  expect(failed("Traceback\nMemoryError\n", 137).message).toBe(
    "/opt/my env/python ended with exit code 137. MemoryError",
  );
});

test("the functions that can be checked take nothing, and the one at the cursor comes first", () => {
  const text = "def one():\n  pass\ndef two( ):\n  pass\ndef three(x):\n  pass\n  def four():\n";
  expect(callablesIn(text, 0).map(({ name }) => name)).toEqual(["one", "two"]);
  expect(callablesIn(text, 5)).toEqual([
    { name: "two", line: 2 },
    { name: "one", line: 0 },
  ]);
  expect(callablesIn("class A:\n  def f():\n", 1)).toEqual([]);
});

test("a problem of no line, and one of a code without a page", () => {
  const results = [{ ruleId: "golden", level: "error", message: { text: "It differs" } }];
  const report = { runs: [{ tool: { driver: { rules: [{ id: "golden" }] } }, results }] };
  expect(problemsIn(JSON.stringify(report))).toEqual([
    { code: "golden", level: "error", message: "It differs", file: null, line: 1, page: "" },
  ]);
});
