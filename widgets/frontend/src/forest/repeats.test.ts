import { describe, expect, test } from "vitest";
import { Program } from "../program";
import { layeredProgram } from "../testing/models";
import { RecordBuilder } from "../testing/records";
import { buildForest } from "./forest";
import type { Item } from "./items";
import { stackRepeats } from "./repeats";

function stacked(program: Program, parameters = false): Item[] {
  const forest = buildForest(program, { housekeeping: false, parameters });
  stackRepeats(program, forest, () => false);
  const encoder = forest.root.children.find((item) => item.title === "encoder");
  return (encoder ?? forest.root).children;
}

const titles = (items: Item[]): string[] => items.map((item) => `${item.kind} ${item.title}`);

describe("runs of equal scopes", () => {
  test("are one item with a count, which holds them all", () => {
    const [repeat] = stacked(layeredProgram(5));
    expect([repeat?.kind, repeat?.title, repeat?.subtitle]).toEqual([
      "repeat",
      "layer.0 … 4",
      "Layer ×5",
    ]);
    expect(repeat?.children.map((item) => item.title)).toEqual(
      [0, 1, 2, 3, 4].map((index) => `layer.${index}`),
    );
  });

  test("are one item with parameters shown, too", () => {
    expect(titles(stacked(layeredProgram(5), true))).toEqual(["repeat layer.0 … 4"]);
  });

  test("are left alone where there are two", () => {
    expect(titles(stacked(layeredProgram(2)))).toEqual(["scope layer.0", "scope layer.1"]);
  });

  test("end at a scope with another op", () => {
    expect(titles(stacked(layeredProgram(7, 3)))).toEqual([
      "repeat layer.0 … 2",
      "scope layer.3",
      "repeat layer.4 … 6",
    ]);
  });

  test("end at a scope with the same ops, connected otherwise", () => {
    const build = new RecordBuilder();
    let value = build.input("x", [4]);
    for (let index = 0; index < 4; index++) {
      const scope = build.scope(`block.${index}`, "Block");
      const first = build.call("sin", [value], { scope });
      const second = build.call("cos", [index === 3 ? value : first], { scope });
      value = build.call("add", [first, second], { scope });
    }
    build.output([value]);
    expect(titles(stacked(new Program(build.record())))).toEqual([
      "input x",
      "repeat block.0 … 2",
      "scope block.3",
      "output output",
    ]);
  });
});
