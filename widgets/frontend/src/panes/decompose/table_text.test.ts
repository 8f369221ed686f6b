import { expect, test } from "vitest";
import { decomposes, parseTable, printTable, toggled } from "./table_text";

test.each(["core", "none", "core -linear -conv2d", "only t transpose", "only aten.t.default"])(
  "%s is read as it is written",
  (text) => {
    const table = parseTable(text);
    expect(table && printTable(table)).toBe(text);
  },
);

test.each(["all", "none t", "only", "core linear", "core -", "only -t"])(
  "%s means nothing",
  (text) => {
    expect(parseTable(text)).toBeNull();
  },
);

const LINEAR = "aten.linear.default";

test("an op is ticked and unticked, under any of its names", () => {
  const core = parseTable("core -linear -t") ?? { base: "none", ops: [] };
  expect(decomposes(core, LINEAR)).toBe(false);
  expect(decomposes(core, "aten.gelu.default")).toBe(true);
  expect(printTable(toggled(core, LINEAR))).toBe("core -t");
  expect(printTable(toggled(core, "aten.gelu.default"))).toBe("core -linear -t -aten.gelu.default");
  const none = { base: "none", ops: [] } as const;
  expect(decomposes(none, LINEAR)).toBe(false);
  expect(printTable(toggled(none, LINEAR))).toBe("only aten.linear.default");
  expect(printTable(toggled(toggled(none, LINEAR), LINEAR))).toBe("none");
});
