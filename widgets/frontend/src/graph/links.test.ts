import { describe, expect, test } from "vitest";
import { buildForest } from "../forest/forest";
import type { Forest } from "../forest/items";
import { Program } from "../program";
import {
  branchingProgram,
  layeredProgram,
  quantizedProgram,
  smallProgram,
} from "../testing/models";
import { RecordBuilder } from "../testing/records";
import { Links } from "./links";

function linked(program: Program): { forest: Forest; links: Links } {
  const forest = buildForest(program, { housekeeping: false, parameters: false });
  return { forest, links: new Links(program, forest) };
}

/** The edges inside a container, as `from>to`. */
function edges({ forest, links }: ReturnType<typeof linked>, title: string): string[] {
  const all = forest.items;
  const container = all.find((item) => item.title === title && item.children.length > 0);
  const inside = container && links.inside(container);
  return (inside ?? []).map(({ from, to }) => `${from.title}>${to.title}`);
}

describe("edges", () => {
  test("join the boxes of ops, and none stands for a folded parameter", () => {
    expect(edges(linked(smallProgram()), "model(x)")).toEqual([
      "x>linear",
      "linear>relu",
      "relu>output",
    ]);
  });

  test("go past what is folded into a quantized op", () => {
    expect(edges(linked(quantizedProgram()), "model(x)")).toEqual(["x>linear", "linear>output"]);
  });

  test("are lifted to the container that holds both ends", () => {
    expect(edges(linked(layeredProgram(2)), "model(x)")).toEqual([
      "x>ones",
      "x>embed",
      "embed>encoder",
      "ones>encoder",
      "encoder>output",
    ]);
  });

  test("enter a container through a port that has the value's name", () => {
    expect(edges(linked(layeredProgram(2)), "layer.1")).toEqual([
      "attention>linear",
      "linear>attention",
      "ones>attention",
    ]);
  });

  test("are merged where they join the same boxes", () => {
    const build = new RecordBuilder();
    const x = build.input("x", [4]);
    const scope = build.scope("pair", "Pair");
    const a = build.call("sin", [x], { scope });
    const b = build.call("cos", [x], { scope });
    build.output([a, b]);
    const { forest, links } = linked(new Program(build.record()));
    const out = links.inside(forest.root).find(({ to }) => to.kind === "output");
    expect(out?.values).toEqual([a, b]);
  });

  test("of a value that many boxes read are named at each, where another edge holds it", () => {
    const { forest, links } = linked(layeredProgram(8));
    const taps = forest.items.flatMap((to) =>
      links.taps(to).map((from) => `${to.title}<${from.title}`),
    );
    expect(taps).toEqual([0, 1, 2, 3, 4, 5, 6, 7].map((index) => `layer.${index}<ones`));
  });

  test("are drawn however many read a value, where nothing else would hold them", () => {
    const build = new RecordBuilder();
    const x = build.input("x", [4]);
    build.output(Array.from({ length: 9 }, () => build.call("sin", [x])));
    const { forest, links } = linked(new Program(build.record()));
    expect(forest.items.flatMap((item) => links.taps(item))).toEqual([]);
    expect(links.inside(forest.root)).toHaveLength(18);
  });

  test("mark the boxes whose values leave their container", () => {
    const { forest, links } = linked(layeredProgram(1));
    const exits = forest.items.filter((item) => links.exits(item));
    expect(exits.map((item) => item.title).sort()).toEqual(["add", "layer.0", "linear"]);
  });

  test("stay inside a branch of cond, and lead to the cond from outside", () => {
    const cond = linked(branchingProgram());
    expect(edges(cond, "true_fn")).toEqual(["x>mul", "mul>output"]);
    expect(edges(cond, "model(x)")).toEqual([
      "x>gt",
      "gt>cond",
      "x>cond",
      "cond>neg",
      "neg>output",
    ]);
  });

  test("are worked out for what is shown alone", () => {
    const program = layeredProgram(40);
    const forest = buildForest(program, { housekeeping: false, parameters: false });
    let asked = 0;
    const links = new Links(program, forest, () => ++asked);
    links.inside(forest.root);
    const shown = asked;
    links.inside(forest.root);
    expect(shown).toBeGreaterThan(0);
    expect(asked).toBe(shown);
    const layer = forest.items.find((item) => item.title === "layer.7");
    expect(layer && links.inside(layer)).toHaveLength(3);
    expect(asked).toBeLessThan(shown + 10); // and not for the other layers
  });

  test("take the many values that enter a container through one port", () => {
    const build = new RecordBuilder();
    const inputs = Array.from({ length: 8 }, (_, index) => build.input(`x${index}`, [4]));
    const scope = build.scope("cat", "Cat");
    const joined = build.call("cat", inputs, { scope });
    build.output([build.call("sin", [joined], { scope })]);
    const { forest, links } = linked(new Program(build.record()));
    const cat = forest.root.children.find((item) => item.title === "cat");
    expect(cat && links.ports(cat).map((port) => port.title)).toEqual(["8 inputs"]);
    expect(cat?.children.map((item) => item.title)).toEqual(["cat", "sin"]);
  });
});
