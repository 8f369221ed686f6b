/**
 * Places boxes with Graphviz, one group at a time and from the inside out. Groups of equal
 * structure share one layout, which is why a model of 32 equal layers costs as much as a model of
 * one. A group that would take Graphviz too long gets the simple layered layout.
 */

import { layered, ranksOf } from "./layered_layout";
import type { Arrangement, LayoutBox, LayoutLink, Placed, PlacedLink } from "./layout_types";

/** Runs Graphviz's `dot` on a graph and returns its `json` output. */
export type Dot = (source: string) => string;

const PAD = 14;
const LABEL_HEIGHT = 15;
const INCH = 72;
/** Above this many edges the layout reserves no space for labels: it would be all labels. */
const MOST_LABELS = 150;

/**
 * Graphviz's weight for the edge from the op that ran just before: the main path stays a straight
 * line, and what skips ahead, such as a residual connection, goes around it.
 */
const MAIN_WEIGHT = 6;

/**
 * The most ranks that the edges of a group may cross in total. Graphviz adds a virtual node for
 * each: 2,000 take about half a second, 7,000 about 15 seconds. Labels double the ranks.
 */
const MOST_CROSSED = 1600;
/** Graphviz's time budget per request; the remaining groups get the simple layout. */
const BUDGET_MS = 3000;

type Arranged = Omit<Placed, "x" | "y">;

/** A request under way. */
interface Request {
  /** Milliseconds that Graphviz may still take. */
  left: number;
  /** The groups that are arranged: boxes that are alike may be one object. */
  groups: Map<LayoutBox, Arranged>;
}

/** Layouts of groups by structure, kept for as long as the page lives. */
export class Placer {
  private readonly known = new Map<string, Arranged>();

  /** @param dot null where Graphviz is not available: every group gets the simple layout */
  constructor(private readonly dot: Dot | null) {}

  /** How many different groups have been laid out by Graphviz. */
  get layouts(): number {
    return this.known.size;
  }

  place(box: LayoutBox): Placed {
    const steps = this.steps(box);
    for (;;) {
      const { done, value } = steps.next();
      if (done) return value;
    }
  }

  /** The same as a generator that yields after each group. */
  *steps(box: LayoutBox): Generator<void, Placed> {
    const arranged = yield* this.arrange(box, { left: BUDGET_MS, groups: new Map() });
    return { x: 0, y: 0, ...arranged };
  }

  private *arrange(box: LayoutBox, request: Request): Generator<void, Arranged> {
    const same = request.groups.get(box);
    if (same) return same;
    const boxes = box.children;
    if (!boxes) return { width: box.width, height: box.height };
    const children: Arranged[] = [];
    for (const child of boxes) {
      // A generator per leaf would cost more than everything else.
      const leaf = !child.children && { width: child.width, height: child.height };
      children.push(leaf || (yield* this.arrange(child, request)));
    }
    const links = box.links ?? [];
    const sizes = children.map((child): [number, number] => [
      Math.ceil(child.width),
      Math.ceil(child.height),
    ]);
    const first = boxes.flatMap((child, index) => (child.first ? [index] : []));
    const key = JSON.stringify([box.width, box.height, sizes, links, first]);
    let outer = this.known.get(key);
    if (!outer) {
      const plainly = !this.dot || request.left <= 0 || crossed(sizes.length, links) > MOST_CROSSED;
      const began = performance.now();
      outer = this.layOut(box, sizes, links, first, plainly ? null : this.dot);
      request.left -= performance.now() - began;
      if (!plainly || request.left > 0) this.known.set(key, outer); // else it may be better next time
      yield;
    }
    const placed = (outer.children ?? []).map((spot, index) => ({
      ...spot,
      ...children[index],
    })) as Placed[];
    const arranged = { ...outer, children: placed };
    request.groups.set(box, arranged);
    return arranged;
  }

  private layOut(
    box: LayoutBox,
    sizes: [number, number][],
    links: LayoutLink[],
    first: number[],
    dot: Dot | null,
  ): Arranged {
    if (sizes.length === 0)
      return { width: box.width, height: box.height, children: [], links: [] };
    const drawing = dot
      ? parse(dot(source(sizes, links, first)), sizes, links.length)
      : layered(sizes, links, first);
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

/** How many ranks the edges of a group cross, all together. */
function crossed(count: number, links: readonly LayoutLink[]): number {
  const ranks = ranksOf(count, links);
  const isLabelled = links.length <= MOST_LABELS && links.some(([, , label]) => label > 0);
  const all = links.reduce(
    (sum, [from, to]) => sum + Math.abs((ranks[to] ?? 0) - (ranks[from] ?? 0)),
    count,
  );
  return isLabelled ? 2 * all : all;
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
    "digraph{graph[rankdir=TB,nodesep=0.24,ranksep=0.26,splines=spline]",
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

/** An empty label of a given size, so that Graphviz reserves space for ours. */
function room(width: number): string {
  const size = `FIXEDSIZE="TRUE" WIDTH="${Math.ceil(width)}" HEIGHT="${LABEL_HEIGHT}"`;
  return `<<TABLE BORDER="0" CELLPADDING="0" CELLSPACING="0" ${size}><TR><TD></TD></TR></TABLE>>`;
}

interface DotJson {
  bb: string;
  /** Boxes, and the group of those that come first, which has no place. */
  objects?: { name: string; pos?: string }[];
  edges?: { pos: string; lp?: string }[];
}

/** Graphviz counts y upwards, in points; edges come in the order they were written. */
function parse(json: string, sizes: [number, number][], linkCount: number): Arrangement {
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
