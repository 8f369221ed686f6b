import { render } from "preact";
import { act } from "preact/test-utils";
import { describe, expect, test } from "vitest";
import { merge } from "../compare/merged";
import { forestOf } from "../forest/program_forest";
import { decorate } from "../graph/decorated";
import { Legend } from "../graph/Legend";
import type { Scene } from "../graph/scene";
import { Inspector } from "../panes/inspector/Inspector";
import { Outline } from "../panes/outline/Outline";
import { Program } from "../program";
import type { FindingRow, Record } from "../record.gen";
import { storeOf } from "../testing/fake_host";
import { layeredProgram } from "../testing/models";
import { freshPage, page } from "../testing/page";
import { RecordBuilder } from "../testing/records";
import { type Decoration, gathered, markOf, noteOf } from "./decoration";
import { decorationsOf } from "./registry";

freshPage();

const PLAIN = { housekeeping: false, parameters: false };

const finding = (node: number, severity: FindingRow["severity"]): FindingRow => ({
  kind: "baked",
  code: "EX201",
  heading: `A ${severity} thing`,
  severity,
  sentence: "It is so.",
  why: "",
  stack: -1,
  node,
  guard: -1,
  fix: -1,
  card: null,
});

/** Two layers, of which the nodes' amounts are their numbers; the ops of layer 0 have findings. */
function decoratedRecord(): Record {
  const { record } = layeredProgram(2);
  const count = record.graphs[0]?.name.length ?? 0;
  const program = new Program(record);
  const { nodes } = named(program);
  const isOp = (node: number): boolean => program.op(node) === "call_function";
  return {
    ...record,
    findings: [
      finding(nodes("add"), "note"),
      finding(nodes("add"), "surprising"),
      finding(nodes("linear"), "wrong"),
    ],
    profile: {
      device: "cpu",
      inputs: "the example",
      runs: 3,
      microseconds: Array.from({ length: count }, (_, at) => (isOp(at) ? at : -1)),
      bytes: Array.from({ length: count }, (_, at) => (isOp(at) ? 1000 : -1)),
      total: (count * (count - 1)) / 2,
    },
  };
}

const named = (program: Program) => ({
  nodes: (name: string): number =>
    [...program.allNodes()].find((id) => program.name(id) === name) ?? -1,
});

const byName = (all: readonly Decoration[], name: string): Decoration => {
  const found = all.find((each) => each.name === name);
  if (!found) throw new Error(`there is no ${name}`);
  return found;
};

describe("decorations", () => {
  const program = new Program(decoratedRecord());
  const forest = forestOf(program, PLAIN);
  const all = decorationsOf(program);
  const itemOf = (title: string) => {
    const item = forest.items.find((each) => each.title === title);
    if (!item) throw new Error(`there is no ${title}`);
    return item;
  };

  test("of a program without any are none", () => {
    expect(decorationsOf(layeredProgram(1))).toEqual([]);
  });

  test("say of a module what they say of the ops in it: the gravest badge, how many, the sum", () => {
    const findings = byName(all, "findings");
    const layer = gathered(findings, forest).get(itemOf("layer.0"));
    expect(layer).toMatchObject({ badge: { sign: "!", colour: "var(--tx-danger)" }, own: false });
    expect(layer && noteOf(findings, layer)).toBe("3 findings: A wrong thing. It is so.");
    expect(gathered(findings, forest).get(itemOf("layer.1"))).toBeUndefined();
    const time = byName(all, "time");
    const sum = gathered(time, forest).get(itemOf("layer.1"))?.amount;
    const inside = ["matmul_1", "add_1", "linear_1"].map(named(program).nodes);
    expect(sum).toBe(inside.reduce((one, other) => one + other, 0));
    const mark = markOf(time, inside);
    expect(mark && noteOf(time, mark)).toMatch(/ µs, [\d.]+ % of the time$/);
    const x = [...program.allNodes()].find((id) => program.op(id) === "placeholder") ?? -1;
    expect(markOf(time, [x])).toBeNull();
  });

  test("are drawn at closed boxes; an open one is decorated by what is its own", () => {
    const [layer, attention, linear] = ["layer.0", "attention", "linear"].map(itemOf);
    const closed = [itemOf("embed"), attention, linear].map((item) => [item, { open: false }]);
    const boxOf = new Map([[layer, { open: true }], ...closed] as never);
    const time = byName(all, "time");
    const { boxes, most } = decorate({ boxOf } as unknown as Scene, forest, all, time);
    expect(boxes.get(layer as never)).toBeUndefined();
    expect(boxes.get(linear as never)?.badges.map(({ sign }) => sign)).toEqual(["!"]);
    expect(boxes.get(attention as never)?.share).toBe(1);
    expect(most).toBe(gathered(time, forest).get(attention as never)?.amount);
  });

  test("of lines colour a closed box whose ops one line made, and no other", () => {
    const build = new RecordBuilder("net(x)");
    const cell = build.file("Cell In[2]", "cell");
    const [one, two] = [build.scope("one", "Block"), build.scope("two", "Block")];
    let at = build.input("x", [4]);
    for (const [scope, line] of [
      [one, 3],
      [one, 3],
      [two, 4],
      [two, 5],
    ] as const) {
      at = build.call("relu", [at], { scope, shape: [4], stack: [[cell, line, "forward"]] });
    }
    build.output([at]);
    const traced = new Program(build.record());
    const tree = forestOf(traced, PLAIN);
    const [colouring] = decorationsOf(traced, undefined, "line");
    if (!colouring) throw new Error("there is none");
    const colourOf = (title: string) => {
      const item = tree.items.find((each) => each.title === title);
      return item && gathered(colouring, tree).get(item)?.colour;
    };
    const ofOps = [...colouring.marks.values()].map(({ colour }) => colour);
    expect(new Set(ofOps).size).toBe(3);
    expect(colourOf("one")).toBe(ofOps[0]);
    expect(tree.items.map(({ title }) => title)).toContain("two");
    expect(colourOf("two")).toBeUndefined();
  });

  test("of a comparison colour what differs, and tell of a module how much of it does", () => {
    const chain = (op: string): Program => {
      const build = new RecordBuilder();
      const scope = build.scope("net", "Net");
      const x = build.input("x", [4]);
      const first = build.call("relu", [x], { scope });
      build.output([build.call(op, [first], { scope })]);
      return new Program(build.record());
    };
    const both = merge(chain("sin"), chain("cos"), {
      before: "",
      after: "",
      symbols: [],
      others: [],
      renamed: [],
      modules: [],
      identical: false,
      weights: "",
      graphs: [
        {
          before: 0,
          after: 0,
          title: "main",
          pairs: [0, 1, 3].map((node) => ({
            before: node,
            after: node,
            why: "structure" as const,
            changes: [],
          })),
          removed: [2],
          added: [2],
          became: [],
        },
      ],
    });
    const [differences] = decorationsOf(both.program, both);
    if (!differences) throw new Error("there is none");
    const marks = gathered(differences, forestOf(both.program, PLAIN));
    const told = [...marks].map(([{ title }, { note, own }]) => [title, note, own]);
    expect(told).toEqual(
      expect.arrayContaining([
        ["cos", "added", true],
        ["sin", "removed", true],
        ["net", "2 nodes differ", false],
      ]),
    );
    expect(differences.legend.map(({ text }) => text)).toHaveLength(2);
  });
});

test("an op whose result nobody uses is marked, and none that is there for what it does", () => {
  const build = new RecordBuilder();
  const x = build.input("x", [4]);
  const idle = build.call("sin", [x]);
  build.call("add_", [x]);
  build.call("check", [x]);
  build.output([build.call("cos", [x])]);
  const record = build.record();
  const targets = record.targets.map((target) => ({
    ...target,
    schema: `aten::${target.label}(Tensor x) -> ${target.label === "check" ? "()" : "Tensor"}`,
    mutates: target.label === "add_" ? ["x"] : [],
  }));
  const all = decorationsOf(new Program({ ...record, targets }));
  expect(all.map(({ name }) => name)).toEqual(["unused"]);
  expect([...(all[0]?.marks.keys() ?? [])]).toEqual([idle]);
});

describe("panes", () => {
  test("show a profile without being asked, each in its own way, and a legend tells the scale", async () => {
    const { store, program } = storeOf(decoratedRecord());
    expect(store.colouring.value?.name).toBe("time");
    store.most.value = 24;
    await act(() =>
      render(
        <>
          <Outline store={store} program={program} />
          <Inspector store={store} program={program} />
          <Legend store={store} program={program} aside={false} low={false} />
        </>,
        page,
      ),
    );
    const row = [...page.querySelectorAll<HTMLElement>(".tx-row")].find((each) =>
      each.textContent?.includes("encoder"),
    );
    expect(row?.textContent).toContain("3 findings");
    expect(row?.textContent).toContain("of the time");
    expect(row?.querySelector(".tx-badge-sign")?.textContent).toBe("!");
    expect(row?.querySelector<HTMLElement>(".tx-row-dot")?.style.cssText).toContain("--tx-heat");
    expect(page.querySelector("[data-testid=scale]")?.textContent).toContain("24 µs");
    expect(page.querySelector("[data-testid=legend] dl")?.textContent).toContain(
      "Finding: surprising",
    );
    const add = named(program).nodes("add");
    await act(() => store.select({ kind: "nodes", nodes: [add] }, "graph"));
    const facts = page.querySelector("[data-testid=inspector]")?.textContent;
    expect(facts).toContain("Findings! 2 findings: A surprising thing.");
    expect(facts).toContain("outputs 1.0 kB");
  });

  test("colour by nothing, or by another, where that is chosen; a new profile colours again", async () => {
    const { store, program } = storeOf(decoratedRecord());
    await act(() =>
      render(<Legend store={store} program={program} aside={false} low={false} />, page),
    );
    const select = page.querySelector("select") as HTMLSelectElement;
    const choose = (value: string) =>
      act(() => {
        select.value = value;
        select.dispatchEvent(new Event("change", { bubbles: true }));
      });
    await choose("none");
    expect(store.colouring.value).toBeNull();
    expect(page.textContent).toContain("ATen op");
    await choose("memory");
    expect(store.colouring.value?.name).toBe("memory");
  });

  test("say on the scale that an amount is 0 everywhere", async () => {
    const { store, program } = storeOf(decoratedRecord());
    await act(() =>
      render(<Legend store={store} program={program} aside={false} low={false} />, page),
    );
    const scale = (): string | null =>
      page.querySelector("[data-testid=scale]")?.textContent ?? null;
    await act(() => {
      store.most.value = 0;
    });
    expect(scale()).toMatch(/: 0 everywhere$/);
    await act(() => {
      store.most.value = 24;
    });
    expect(scale()).not.toContain("everywhere");
  });

  test("close the legend with Escape, and nothing else", async () => {
    const { store, program } = storeOf(decoratedRecord());
    await act(() =>
      render(<Legend store={store} program={program} aside={false} low={false} />, page),
    );
    const legend = page.querySelector("details") as HTMLDetailsElement;
    let heard = 0;
    page.addEventListener("keydown", () => {
      heard += 1;
    });
    const press = () =>
      act(
        () =>
          void legend.dispatchEvent(new KeyboardEvent("keydown", { key: "Escape", bubbles: true })),
      );
    legend.open = true;
    await press();
    expect([legend.open, heard]).toEqual([false, 0]);
    await press();
    expect(heard).toBe(1);
  });
});
