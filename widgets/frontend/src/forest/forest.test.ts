import { describe, expect, test } from "vitest";
import { Program } from "../program";
import {
  branchingProgram,
  layeredProgram,
  quantizedProgram,
  smallProgram,
} from "../testing/models";
import { RecordBuilder } from "../testing/records";
import { buildForest } from "./forest";
import { type Item, nodesBelow, openAbove } from "./items";
import { stackRepeats } from "./repeats";

const PLAIN = { housekeeping: false, parameters: false };

/** The tree as nested titles: `encoder[layer.0[matmul]]`. */
function outline(item: Item): string {
  const inner = item.children.map(outline).join(" ");
  return inner ? `${item.title}[${inner}]` : item.title;
}

describe("the tree of items", () => {
  test("holds inputs, scopes and outputs in execution order, and no parameters", () => {
    const { root } = buildForest(layeredProgram(1), PLAIN);
    expect(outline(root)).toBe(
      "model(x)[x ones embed encoder[layer.0[attention[matmul add] linear]] output]",
    );
  });

  test("folds parameters into the op that reads them, with their sizes", () => {
    const forest = buildForest(smallProgram(), PLAIN);
    const linear = forest.root.children.find((item) => item.title === "linear");
    expect(linear?.held.map(({ name, size }) => `${name} ${size}`)).toEqual([
      "weight 6×4",
      "bias 6",
    ]);
  });

  test("shows a scope with a single op as that op, under the scope's name", () => {
    const forest = buildForest(smallProgram(), PLAIN);
    const linear = forest.root.children.find((item) => item.title === "linear");
    expect([linear?.kind, linear?.subtitle]).toEqual(["op", "lin"]);
  });

  test("shows parameters as boxes in the scope of their first user, on demand", () => {
    const { root } = buildForest(smallProgram(), { housekeeping: false, parameters: true });
    expect(outline(root)).toBe("model(x)[lin[weight bias linear] x relu output]");
  });

  test("folds a parameter that several ops read into each of them", () => {
    const build = new RecordBuilder();
    const weight = build.parameter("tied.weight", [4]);
    const x = build.input("x", [4]);
    const first = build.call("mul", [x, weight]);
    build.output([build.call("add", [first, weight])]);
    const { root } = buildForest(new Program(build.record()), PLAIN);
    const held = root.children.map((item) => item.held.map((each) => each.name).join());
    expect(held).toEqual(["", "weight", "weight", ""]);
  });

  test("takes what a failed export reads of its module for what it holds", () => {
    const build = new RecordBuilder();
    const x = build.input("x", [4]);
    const weight = build.attribute("lin.weight", [4, 4]);
    build.output([build.call("linear", [x, weight])]);
    const program = new Program(build.record());
    const { root } = buildForest(program, PLAIN);
    expect(outline(root)).toBe("model(x)[x linear output]");
    expect(root.children[1]?.held.map((each) => `${each.name} ${each.size}`)).toEqual([
      "weight 4×4",
    ]);
    const all = buildForest(program, { housekeeping: false, parameters: true });
    expect(outline(all.root)).toBe("model(x)[x lin.weight linear output]");
  });

  test("puts the branches of cond into its box, titled by their arguments", () => {
    const { root } = buildForest(branchingProgram(), PLAIN);
    expect(outline(root)).toBe(
      "model(x)[x gt cond[true_fn[x mul output] false_fn[x sin output]] neg output]",
    );
  });

  test("folds a branch's parameter into the op inside that reads it", () => {
    const { items } = buildForest(branchingProgram(), PLAIN);
    const mul = items.find((item) => item.title === "mul");
    expect(mul?.held.map((held) => held.name)).toEqual(["weight"]);
  });

  test("hides housekeeping and counts it, or shows it", () => {
    const build = new RecordBuilder();
    const x = build.input("x", ["batch"]);
    build.call("sym_size", [x], { housekeeping: true, shape: [] });
    build.output([build.call("sin", [x])]);
    const program = new Program(build.record());
    const hidden = buildForest(program, PLAIN);
    const shown = buildForest(program, { housekeeping: true, parameters: false });
    expect([outline(hidden.root), hidden.hidden]).toEqual(["model(x)[x sin output]", 1]);
    expect([outline(shown.root), shown.hidden]).toEqual(["model(x)[x sym_size sin output]", 0]);
  });

  test("takes a getitem as part of the op it picks from", () => {
    const build = new RecordBuilder();
    const x = build.input("x", [4]);
    const split = build.call("split", [x]);
    const part = build.call("getitem", [split], { kind: "python", shape: [2] });
    build.output([part]);
    const forest = buildForest(new Program(build.record()), PLAIN);
    expect(outline(forest.root)).toBe("model(x)[x split output]");
    expect(forest.itemOf.get(part)).toBe(forest.itemOf.get(split));
  });

  test("folds what only quantizes for an op into it, with the weight, unless all is shown", () => {
    const program = quantizedProgram();
    const hidden = buildForest(program, PLAIN);
    expect(outline(hidden.root)).toBe("model(x)[x linear output]");
    const linear = hidden.root.children[1];
    expect(linear?.held.map(({ name }) => name)).toEqual(["weight"]);
    expect(hidden.hidden).toBe(3);
    const shown = buildForest(program, { housekeeping: true, parameters: false });
    expect(outline(shown.root)).toBe(
      "model(x)[x dequantize_per_channel quantize_per_tensor dequantize_per_tensor linear output]",
    );
  });

  test("keeps two calls of one module apart", () => {
    const build = new RecordBuilder();
    const x = build.input("x", [4]);
    const scopes = [build.scope("act", "Act"), build.scope("act", "Act")];
    let value = x;
    for (const scope of scopes) {
      value = build.call("sin", [value], { scope });
      value = build.call("cos", [value], { scope });
    }
    build.output([value]);
    const { root } = buildForest(new Program(build.record()), PLAIN);
    expect(outline(root)).toBe("model(x)[x act[sin cos] act (call 2)[sin cos] output]");
  });

  test("puts what a function made into a box of its own, inside its module", () => {
    const build = new RecordBuilder();
    const scope = build.scope("attn", "Attention");
    const inner = build.scope("proj", "Linear", scope);
    const rope = build.group("rope", { scope, scopes: [inner] });
    const half = build.group("half", { scope, parent: rope });
    const mask = build.group("", { scope, plumbing: true });
    const x = build.input("x", [4]);
    const ones = build.call("ones", [x], { scope, group: mask });
    const bools = build.call("bool", [ones], { scope, group: mask });
    const neg = build.call("neg", [x], { scope, group: half });
    const cat = build.call("cat", [neg], { scope, group: half });
    const linear = build.call("linear", [cat], { scope: inner });
    build.output([build.call("where", [bools, linear], { scope })]);
    const forest = buildForest(new Program(build.record()), PLAIN);
    expect(outline(forest.root)).toBe(
      "model(x)[x attn[ones … bool[ones bool] rope[half[neg cat] linear] where] output]",
    );
    const [, attention] = forest.root.children;
    expect(attention?.children.map((each) => each.accent)).toEqual([
      "plumbing",
      "function",
      "aten",
    ]);
    expect(forest.itemOf.get(linear)?.parent?.title).toBe("rope");
  });

  test("shows a function of one op that is shown as that op", () => {
    const build = new RecordBuilder();
    const group = build.group("size_of");
    const x = build.input("x", [4]);
    build.call("sym_size", [x], { group, housekeeping: true, shape: [] });
    build.output([build.call("neg", [x], { group })]);
    const { root } = buildForest(new Program(build.record()), PLAIN);
    expect(outline(root)).toBe("model(x)[x neg output]");
  });

  test("finds by its key what was put under others later", () => {
    const forest = buildForest(layeredProgram(4), PLAIN);
    const before = forest.items.length;
    stackRepeats(layeredProgram(4), forest, () => false);
    expect(forest.items.length).toBe(before + 1);
    for (const [key, each] of forest.openable) expect(each.key).toBe(key);
  });

  test("is empty for a program without ops", () => {
    const { root } = buildForest(
      new Program({ ...new RecordBuilder().record(), graphs: [] }),
      PLAIN,
    );
    expect(root.children).toEqual([]);
  });

  test("counts the ops of each scope", () => {
    const { items } = buildForest(layeredProgram(2), PLAIN);
    const encoder = items.find((item) => item.title === "encoder");
    expect([encoder?.ops, encoder && nodesBelow(encoder).length]).toEqual([6, 6]);
  });

  test("knows what has to be open for an item to be seen", () => {
    const { items } = buildForest(layeredProgram(1), PLAIN);
    const matmul = items.find((item) => item.title === "matmul");
    const open = new Set<string>();
    if (matmul) openAbove(matmul, open);
    expect([...open].map((key) => items.find((each) => each.key === key)?.title)).toEqual([
      "attention",
      "layer.0",
      "encoder",
    ]);
  });
});
