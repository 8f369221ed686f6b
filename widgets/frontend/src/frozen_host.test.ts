import { gzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { type Frozen, FrozenHost, unpack } from "./frozen_host";

const FROZEN: Frozen = {
  attempts: [
    {
      label: "strict",
      outcome: "exported",
      verdict: "exported",
      parent: -1,
      step: "",
      revision: 0,
      untrusted: false,
      release: null,
      name: "ex",
    },
  ],
  current: 0,
  compared: -1,
  records: [btoa("\x01\x02")],
  sources: [[[[["k", "def"]]], null]],
  codes: [[{ lines: [], nodes: [4] }]],
  diffs: [[null]],
  texts: [[null]],
  programs: null,
  costs: [null],
  pages: {
    EX201: { code: "EX201", title: "Baked", means: "", cure: "", why: "", lines: [] },
  },
};

test("a page answers from what it holds", async () => {
  const host = new FrozenHost(FROZEN);
  expect((await host.ask("record", { attempt: 0 })).getUint8(1)).toBe(2);
  expect((await host.ask("explain", { name: "EX201" })).title).toBe("Baked");
  expect(await host.ask("source", { attempt: 0, file: 0 })).toEqual({ lines: [[["k", "def"]]] });
  expect(await host.ask("code", { attempt: 0, graph: 0 })).toEqual({ lines: [], nodes: [4] });
});

test("what it does not hold is refused with a sentence", async () => {
  const host = new FrozenHost(FROZEN);
  await expect(host.ask("source", { attempt: 0, file: 1 })).rejects.toThrow("not in this page");
  await expect(host.ask("cost", { attempt: 0 })).rejects.toThrow("cost of this program is not");
  await expect(host.ask("record", { attempt: 7 })).rejects.toThrow("not in this page");
  await expect(host.ask("diff", { attempt: 0, other: 0 })).rejects.toThrow("not in this page");
  await expect(host.ask("apply", { attempt: 0, fixes: [0] })).rejects.toThrow(
    "Export in a notebook",
  );
});

test("a packed page is unpacked", async () => {
  const packed = gzipSync(JSON.stringify(FROZEN)).toString("base64");
  expect(await unpack(packed)).toEqual(FROZEN);
});

test("a code that has the name of something every object has is no page", async () => {
  const host = new FrozenHost(FROZEN);
  for (const name of ["constructor", "__proto__", "toString"])
    await expect(host.ask("explain", { name })).rejects.toThrow("page on this code is not in");
});
