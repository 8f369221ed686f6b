import { render } from "preact";
import { expect, test } from "vitest";
import { OPS, type OpPairs, type OpValues, type Record } from "../../record.gen";
import { storeOf } from "../../testing/fake_host";
import { layeredProgram } from "../../testing/models";
import { freshPage, page } from "../../testing/page";
import { BINS } from "../../values";
import { Values } from "./Values";

freshPage();

const bits = (numbers: number[]): Int32Array => new Int32Array(new Float32Array(numbers).buffer);

/** A model of which every op gave -1 to 3, the second one NaN, and the third ran five times. */
function watched(): Record {
  const { record } = layeredProgram(1);
  const count = record.graphs[0]?.name.length ?? 0;
  const all = (value: number): Int32Array => new Int32Array(count).fill(value);
  const floats = (value: number): Int32Array => bits(new Array(count).fill(value));
  const [first = 0, second = 0, third = 0] = ops(record);
  const at = (where: number, value: number, others: number): Int32Array =>
    all(others).map((other, node) => (node === where ? value : other));
  const graph: OpValues = {
    graph: 0,
    runs: at(third, 5, 1),
    count: all(8),
    minimum: floats(-1),
    maximum: floats(3),
    mean: floats(0.5),
    std: floats(1),
    norm: floats(2),
    zeros: floats(0.25),
    saturated: floats(0),
    nans: at(second, 8, 0),
    infs: all(0),
    histogram: new Int32Array(count * BINS).fill(10),
  };
  const errors: OpPairs = {
    graph: 0,
    partner: at(first, 0, -1),
    absolute: floats(1),
    relative: floats(0.5),
    cosine: floats(0),
    sqnr: floats(6),
    own: floats(0.5),
    overflow: all(0),
    underflow: all(0),
  };
  const run = { device: "cpu", inputs: "batch=2", seconds: 0.5, memory: 4096 };
  return {
    ...record,
    values: { ...run, graphs: [graph], left_out: ["`flex`: its ops are not watched."] },
    pairs: {
      ...run,
      one: "program",
      other: "eager",
      agrees: false,
      sentence: "The error starts at `a`: relative error 0.5.",
      graphs: [errors],
      faults: [{ graph: 0, node: first }],
      worst: { graph: 0, node: first },
      left_out: ["`scan`: the first 64 of 70 calls of its nested graphs were compared."],
    },
  };
}

function ops(record: Record): number[] {
  const graph = record.graphs[0];
  return [...(graph?.op ?? [])].flatMap((op, node) => (op === CALL ? [node] : []));
}

const CALL = OPS.indexOf("call_function");

test("the table has a row for each op, with its numbers, NaN and how often it ran", () => {
  const { store, program } = storeOf(watched());
  render(<Values store={store} program={program} />, page);

  const heads = [...page.querySelectorAll("[data-testid=statistics] th")];
  expect(heads.map((each) => each.textContent)).toContain("NaN, inf");
  const rows = [...page.querySelectorAll("[data-testid=statistics] tbody tr")];
  const texts = rows.map((row) => [...row.children].map((cell) => cell.textContent));
  expect(rows).toHaveLength(ops(program.record).length);
  expect(texts[0]?.slice(1, 7)).toEqual(["-1", "3", "0.5", "1", "25 %", ""]);
  expect(texts[1]?.slice(1, 5)).toEqual(["–", "–", "–", "–"]);
  expect(texts[1]?.[6]).toBe("8");
  expect(texts[2]?.[0]).toContain("×5");
});

test("a row selects its op, and what was left out of each run is said", () => {
  const { store, program } = storeOf(watched());
  render(<Values store={store} program={program} />, page);

  page.querySelector<HTMLElement>("[data-testid=statistics] tbody tr")?.click();

  expect(store.selection.value).toEqual({ kind: "nodes", nodes: [ops(program.record)[0]] });
  const said = [...page.querySelectorAll("[data-testid=left-out]")].map((each) =>
    each.textContent?.trim(),
  );
  expect(said).toEqual([
    "scan: the first 64 of 70 calls of its nested graphs were compared.",
    "flex: its ops are not watched.",
  ]);
  expect(page.querySelector("[data-testid=pairs]")?.textContent).toContain("the most");
});

test("runs that are the same in every bit have no bars of errors", () => {
  const bars = (record: Record): Element | null => {
    const { store, program } = storeOf(record);
    render(<Values store={store} program={program} />, page);
    return page.querySelector("[data-testid=pairs] figure");
  };
  const record = watched();
  expect(bars(record)).not.toBeNull();
  const [errors] = record.pairs?.graphs ?? [];
  errors?.relative.fill(0);
  errors?.own.fill(0);
  expect(bars({ ...record })).toBeNull();
});

test("a page without a kernel explains no button of those that it lacks", () => {
  const { record } = layeredProgram(1);
  const { store, program } = storeOf(record, { live: false });
  render(<Values store={store} program={program} />, page);
  expect(page.textContent).toContain("This page was saved without values.");
});
