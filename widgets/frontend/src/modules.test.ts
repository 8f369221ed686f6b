import { expect, test } from "vitest";
import worker from "./graph/layout.worker?worker";
import tokens from "./style/tokens.css";

test("a worker is the text of one script, with all that it imports", () => {
  expect(worker).toContain("onmessage");
  expect(worker).not.toMatch(/^\s*import\s/m);
});

test("a style sheet is text", () => {
  expect(tokens).toContain("--tx-bg");
});
