/**
 * Places boxes with Graphviz, one group at a time and from the inside out. Groups of equal structure
 * share one layout, which is why a model of 32 equal layers costs as much as a model of one.
 */

import type { LayoutBox, LayoutLink, Placed, PlacedLink } from "./layout_types";

/** Runs Graphviz's `dot` on a graph and returns its `json` output. */
export type Dot = (source: string) => string;

const PAD = 14;
const LABEL_HEIGHT = 15;
const INCH = 72;
/** Above this many edges, labels are not given room: the picture would be all labels. */
const MOST_LABELS = 150;

/**
 * How much shorter and straighter Graphviz makes the edge to a box from the box that ran last before
 * it: the main way stays a straight line, and what skips ahead, such as a residual, goes around.
 */
const MAIN_WEIGHT = 6;

type Arranged = Omit<Placed, "x" | "y">;

/** Layouts of groups by structure, kept for as long as the page lives. */
export class Placer {
  private readonly known = new Map<string, Arranged>();

  constructor(private readonly dot: Dot) {}

  /** How many different groups have been laid out. */
  get layouts(): number {
    return this.known.size;
  }

  place(box: LayoutBox): Placed {
    return { x: 0, y: 0, ...this.arrange(box) };
  }

  private arrange(box: LayoutBox): Arranged {
    if (!box.children) return { width: box.width, height: box.height };
    const children = box.children.map((child) => this.arrange(child));
    const links = box.links ?? [];
    const sizes = children.map((child) => [Math.ceil(child.width), Math.ceil(child.height)]);
    const first = box.children.flatMap((child, index) => (child.first ? [index] : []));
    const key = JSON.stringify([box.width, box.height, sizes, links, first]);
    let outer = this.known.get(key);
    if (!outer) {
      outer = this.layOut(box, sizes as [number, number][], links, first);
      this.known.set(key, outer);
    }
    const placed = (outer.children ?? []).map((spot, index) => ({
      ...spot,
      ...children[index],
    })) as Placed[];
    return { ...outer, children: placed };
  }

  private layOut(
    box: LayoutBox,
    sizes: [number, number][],
    links: LayoutLink[],
    first: number[],
  ): Arranged {
    if (sizes.length === 0)
      return { width: box.width, height: box.height, children: [], links: [] };
    const drawing = parse(this.dot(source(sizes, links, first)), sizes, links.length);
    const width = Math.max(box.width, drawing.width + 2 * PAD);
    const left = (width - drawing.width) / 2;
    const top = box.height + PAD;
    const move = (x: number, y: number): [number, number] => [x + left, y + top];
    return {
      width,
      height: drawing.height + box.height + 2 * PAD,
      children: drawing.boxes.map(([x, y], index) => {
        const [w, h] = sizes[index] ?? [0, 0];
        const [cx, cy] = move(x, y);
        const beside = links.length === 0; // such as the branches of cond: in one row
        return { x: cx - w / 2, y: beside ? top : cy - h / 2, width: w, height: h };
      }),
      links: drawing.links.map((link) => moved(link, move)),
    };
  }
}

function moved(link: PlacedLink, move: (x: number, y: number) => [number, number]): PlacedLink {
  const points: number[] = [];
  for (let i = 0; i < link.points.length; i += 2) {
    points.push(...move(link.points[i] ?? 0, link.points[i + 1] ?? 0));
  }
  return { points, label: link.label && move(...link.label) };
}

function source(sizes: [number, number][], links: LayoutLink[], first: number[]): string {
  const lines = [
    "digraph{graph[rankdir=TB,nodesep=0.24,ranksep=0.34,splines=spline]",
    'node[shape=box,fixedsize=true,label=""]edge[arrowhead=none]',
  ];
  sizes.forEach(([width, height], index) => {
    lines.push(`${index}[width=${width / INCH},height=${height / INCH}]`);
  });
  const labelled = links.length <= MOST_LABELS;
  const latest = new Map<number, number>();
  for (const [from, to] of links) latest.set(to, Math.max(from, latest.get(to) ?? 0));
  for (const [from, to, labelWidth] of links) {
    const weight = latest.get(to) === from ? `weight=${MAIN_WEIGHT}` : "";
    const label = labelled && labelWidth > 0 ? `label=${room(labelWidth)}` : "";
    lines.push(`${from}->${to}[${[weight, label].filter(Boolean).join(",")}]`);
  }
  if (first.length > 0) lines.push(`{rank=min;${first.join(";")}}`);
  lines.push("}");
  return lines.join("\n");
}

/** An empty label of a given size, so that Graphviz keeps room for ours. */
function room(width: number): string {
  const size = `FIXEDSIZE="TRUE" WIDTH="${Math.ceil(width)}" HEIGHT="${LABEL_HEIGHT}"`;
  return `<<TABLE BORDER="0" CELLPADDING="0" CELLSPACING="0" ${size}><TR><TD></TD></TR></TABLE>>`;
}

interface Drawing {
  width: number;
  height: number;
  /** Centres. */
  boxes: [number, number][];
  links: PlacedLink[];
}

interface DotJson {
  bb: string;
  /** Boxes, and the group of those that come first, which has no place. */
  objects?: { name: string; pos?: string }[];
  edges?: { pos: string; lp?: string }[];
}

/** Graphviz counts y upwards, in points; edges come in the order they were written. */
function parse(json: string, sizes: [number, number][], linkCount: number): Drawing {
  const graph = JSON.parse(json) as DotJson;
  const [, , width = 0, height = 0] = graph.bb.split(",").map(Number);
  const boxes: [number, number][] = sizes.map(() => [0, 0]);
  for (const each of graph.objects ?? []) {
    if (each.pos === undefined) continue;
    const [x = 0, y = 0] = each.pos?.split(",").map(Number) ?? [];
    if (each.pos) boxes[Number(each.name)] = [x, height - y];
  }
  const links: PlacedLink[] = [];
  for (let index = 0; index < linkCount; index++) {
    const edge = graph.edges?.[index];
    const label = edge?.lp?.split(",").map(Number);
    links.push({
      points: (edge?.pos ?? "").split(" ").flatMap((pair) => {
        const [x, y] = pair
          .replace(/^[se],/, "")
          .split(",")
          .map(Number);
        return x === undefined || y === undefined || Number.isNaN(y) ? [] : [x, height - y];
      }),
      label: label ? [label[0] ?? 0, height - (label[1] ?? 0)] : null,
    });
  }
  return { width, height, boxes, links };
}
