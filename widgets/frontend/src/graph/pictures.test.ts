import { describe, expect, test } from "vitest";
import { Program } from "../program";
import { layeredProgram, smallProgram } from "../testing/models";
import { RecordBuilder } from "../testing/records";
import { drawingOf } from "./drawing";
import { edgePieces, tipOf } from "./labels";
import { marksOf, NO_MARKS } from "./marks";
import { MINIMAP, minimapScale } from "./minimap";
import { platesOf } from "./overview";
import { mix, type Palette } from "./palette";
import { asSvg, pngScale } from "./saving";
import { type Scene, settle } from "./scene";
import { sketch } from "./sketch";
import { escapeXml, fitText } from "./surface";
import { stepFrom } from "./walk";

const PLAIN = { housekeeping: false, parameters: false };
const measure = (text: string): number => text.length * 6;
const shade = { plain: "red", soft: "pink", line: "gray", patch: "red" };
const palette: Palette = {
  background: "white",
  surface: "white",
  text: "black",
  muted: "gray",
  border: "silver",
  edge: "gray",
  select: "blue",
  selectFill: "lightblue",
  scopeEven: "snow",
  added: "green",
  removed: "red",
  changed: "orange",
  scopeOdd: "linen",
  accents: new Map(),
  neutral: shade,
  symbols: ["crimson", "teal"],
  plainOf: (colour) => colour,
};

/** The closed scene of a program, its boxes one below the other, 100 apart. */
function column(program: Program): { drawing: ReturnType<typeof drawingOf>; scene: Scene } {
  const drawing = drawingOf(program, PLAIN);
  const boxes = sketch(drawing, new Set(), measure);
  const children = boxes.children.map((_, at) => ({ x: 10, y: at * 100, width: 80, height: 50 }));
  const links = boxes.edges.map(() => ({
    points: [50, 50, 50, 60, 50, 70, 50, 100],
    label: [60, 75] as [number, number],
  }));
  const height = children.length * 100;
  return { drawing, scene: settle(boxes, { x: 0, y: 0, width: 100, height, children, links }) };
}

function titled(scene: Scene, title: string) {
  const item = [...scene.boxOf.keys()].find((each) => each.title === title);
  if (!item) throw new Error(`the scene has no ${title}`);
  return item;
}

describe("a saved picture", () => {
  const hostile = '<script>alert("x")</script>';

  test("holds the model's texts as text", () => {
    const build = new RecordBuilder();
    build.output([build.call("sin", [build.input(hostile, [4])])]);
    const { scene } = column(new Program(build.record()));
    const svg = asSvg(scene, palette, NO_MARKS, measure);
    const document = new DOMParser().parseFromString(svg, "image/svg+xml");
    expect(svg).not.toContain("<script");
    expect(document.querySelector("script")).toBeNull();
    expect(svg).toContain("&lt;script&gt;");
  });

  test("colours each symbol as itself", () => {
    const svg = asSvg(column(smallProgram()).scene, palette, NO_MARKS, measure);
    expect(svg).toMatch(/fill="crimson"[^>]*>batch</);
  });

  test("fades what a shown path does not go through", () => {
    const { scene } = column(smallProgram());
    const path = new Set([titled(scene, "x")]);
    expect(asSvg(scene, palette, { ...NO_MARKS, path }, measure)).toContain('opacity="0.28"');
    expect(asSvg(scene, palette, NO_MARKS, measure)).not.toContain("opacity");
  });

  test("is twice the size of the scene, as far as a browser can make it", () => {
    expect(pngScale({ width: 300, height: 200 })).toBe(2);
    expect(60_000 * pngScale({ width: 800, height: 60_000 })).toBeLessThanOrEqual(16_000);
  });
});

test("XML is escaped, and what XML does not allow is replaced", () => {
  expect(escapeXml(`<a b="c">&\u0000\ud800`)).toBe("&lt;a b=&quot;c&quot;&gt;&amp;\ufffd\ufffd");
});

test("a text of any length is cut to its room", () => {
  expect(fitText("short", 100, measure)).toBe("short");
  expect(fitText("f32[2, 1024, 8]", 60, measure)).toBe("f32[2, …");
  expect(fitText("x".repeat(10_000), 60, measure)).toBe(`${"x".repeat(9)}…`);
  expect(fitText("make_a_sliding_mask", 108, measure)).toBe("make_a_…_mask");
  expect(fitText("fused_add_mul_relu_1", 90, measure)).toBe("fused_add_…_1");
  expect(fitText("a_b".repeat(50), 60, measure)).toBe("a_ba_ba_b…");
});

test("colours are mixed channel by channel, and kept where they cannot be read", () => {
  expect(mix("rgb(100, 0, 200)", "rgb(0, 100, 0)", 0.25)).toBe("rgb(25, 75, 50)");
  expect(mix("color(srgb 1 0 0)", "rgb(0, 0, 0)", 0.5)).toBe("rgb(128, 0, 0)");
  expect(mix("Canvas", "rgb(0, 0, 0)", 0.5)).toBe("Canvas");
});

describe("the label of an edge", () => {
  const program = smallProgram();
  const { forest, links } = drawingOf(program, PLAIN);
  const [link] = links.inside(forest.root);
  const label = (common: string): string =>
    link
      ? edgePieces(program, link, common)
          .map((piece) => piece.text)
          .join("")
      : "";

  test("leaves out the dtype that goes without saying", () => {
    expect([label("f32"), label("bf16")]).toEqual(["batch×4", "f32 batch×4"]);
  });
});

test("a tooltip has the whole name, the type and the op, or the scope's path and class", () => {
  const small = column(smallProgram()).drawing.program;
  const layered = column(layeredProgram(2));
  const relu = titled(column(smallProgram()).scene, "relu");
  expect(tipOf(small, relu)).toBe("relu: f32[batch, 6]\naten.relu.default");
  const encoder = titled(layered.scene, "encoder");
  expect(tipOf(layered.drawing.program, encoder)).toBe("encoder\nmodels.Encoder");
});

describe("the minimap", () => {
  test("has the proportions of the scene", () => {
    const { x, y, width, height } = minimapScale({ width: 2000, height: 1000 }, VIEW);
    expect(x).toBe(y);
    expect(width).toBeLessThanOrEqual(MINIMAP.width);
    expect(height).toBe(width / 2);
  });

  test("stretches a scene that would be a thread", () => {
    const { width, height } = minimapScale({ width: 1000, height: 80_000 }, VIEW);
    expect(width).toBeGreaterThan(20);
    expect(height).toBeLessThanOrEqual(MINIMAP.height);
  });

  test("takes less of a small view", () => {
    const scene = { width: 1000, height: 900 };
    const little = minimapScale(scene, { width: 400, height: 220 });
    expect(little.height).toBeLessThan(minimapScale(scene, VIEW).height);
  });
});

const VIEW = { width: 900, height: 600 };

describe("names of a scene seen from afar", () => {
  const { scene } = column(layeredProgram(3));

  test("are not there where headers can be read", () => {
    expect(platesOf(scene, { x: 0, y: 0, zoom: 1 }, VIEW, measure)).toEqual([]);
  });

  test("do not overlap, and stay inside their boxes", () => {
    for (const box of scene.root.children) Object.assign(box, { width: 900, height: 90 });
    const plates = platesOf(scene, { x: 0, y: 0, zoom: 0.4 }, VIEW, measure);
    expect(plates.map((plate) => plate.text)).toContain("encoder");
    for (const [at, plate] of plates.entries()) {
      const box = scene.root.children.find((each) => each.item.title === plate.text);
      expect(box && plate.y + plate.height <= (box.y + box.height) * 0.4).toBe(true);
      for (const other of plates.slice(at + 1)) {
        expect(plate.y + plate.height <= other.y || other.y + other.height <= plate.y).toBe(true);
      }
    }
  });
});

describe("the arrow keys", () => {
  const { drawing, scene } = column(smallProgram());
  const step = (from: string, direction: "up" | "down" | "left" | "right") =>
    stepFrom(scene, drawing.links, titled(scene, from), direction)?.title;

  test("follow the edges up and down", () => {
    expect([step("linear", "down"), step("linear", "up")]).toEqual(["relu", "x"]);
  });

  test("stay where there is nothing that way", () => {
    expect([step("x", "up"), step("x", "left")]).toEqual([undefined, undefined]);
  });
});

describe("what stands out", () => {
  const { drawing, scene } = column(layeredProgram(3));
  const program = drawing.program;
  const node = [...program.allNodes()].find((id) => program.name(id) === "matmul_1") ?? -1;
  const pointed = { hovered: null, sides: 3, showPath: false };

  test("is the closed box that a selected op is inside of", () => {
    const selection = { kind: "nodes", nodes: [node] } as const;
    const marks = marksOf(drawing, scene, { ...pointed, selection, nodes: new Set([node]) });
    expect([...marks.lit].map((item) => item.title)).toEqual(["encoder"]);
  });

  test("is a selected scope itself, not all that is in it", () => {
    const scope = program.record.scopes.findIndex((each) => each.name === "encoder");
    const selection = { kind: "scope", scope } as const;
    const marks = marksOf(drawing, scene, { ...pointed, selection, nodes: new Set([node]) });
    expect([...marks.lit].map((item) => item.title)).toEqual(["encoder"]);
  });

  test("is what an edge joins to the box under the pointer", () => {
    const selection = { kind: "none" } as const;
    const hovered = titled(scene, "embed");
    const marks = marksOf(drawing, scene, { ...pointed, hovered, selection, nodes: new Set() });
    expect([...marks.near].map((item) => item.title)).toEqual(["x", "encoder"]);
  });

  test("is the path to the inputs and to the outputs, where it is asked for", () => {
    const ones = [...program.allNodes()].find((id) => program.name(id) === "ones") ?? -1;
    const selection = { kind: "nodes", nodes: [ones] } as const;
    const shown = { ...pointed, selection, nodes: new Set([ones]), sides: 3, showPath: true };
    const path = [...(marksOf(drawing, scene, shown).path ?? [])].map((item) => item.title);
    expect(path).toContain("output");
    expect(path).toContain("x");
    expect(path).not.toContain("embed");
  });
});
