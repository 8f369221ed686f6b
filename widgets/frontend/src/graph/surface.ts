/** The drawing surface of the graph: a canvas, or an SVG document for saving. */

export interface Stroke {
  colour: string;
  width: number;
  dash?: number[];
}

export interface Surface {
  box(
    x: number,
    y: number,
    width: number,
    height: number,
    radius: number,
    fill: string,
    stroke?: Stroke,
  ): void;
  /** A Bézier chain: a start, then two control points and an end for each segment. */
  curve(points: readonly number[], stroke: Stroke): void;
  triangle(points: readonly number[], fill: string): void;
  /** How visible is what is drawn from now on, from 0 to 1. */
  fade(alpha: number): void;
  /** One line of text; `y` is its vertical middle. Cut with … if it is wider than `width`. */
  text(text: string, x: number, y: number, font: string, colour: string, width: number): void;
}

/** Draws on a 2D canvas whose transform is the camera's. Keep one per canvas: it measures once. */
export class CanvasSurface implements Surface {
  private font = "";
  private readonly cut = new Map<string, string>();

  constructor(private readonly context: CanvasRenderingContext2D) {}

  /** Call before each picture: a canvas that was resized has forgotten its settings. */
  begin(): void {
    this.font = "";
    this.context.textBaseline = "middle";
    this.context.globalAlpha = 1;
  }

  fade(alpha: number): void {
    this.context.globalAlpha = alpha;
  }

  box(
    x: number,
    y: number,
    width: number,
    height: number,
    radius: number,
    fill: string,
    stroke?: Stroke,
  ): void {
    const { context } = this;
    context.beginPath();
    if (radius > 0) context.roundRect(x, y, width, height, radius);
    else context.rect(x, y, width, height);
    if (fill) {
      context.fillStyle = fill;
      context.fill();
    }
    if (stroke) this.stroke(stroke);
  }

  curve(points: readonly number[], stroke: Stroke): void {
    const { context } = this;
    context.beginPath();
    context.moveTo(points[0] ?? 0, points[1] ?? 0);
    for (let i = 2; i + 5 < points.length; i += 6) {
      context.bezierCurveTo(
        points[i] as number,
        points[i + 1] as number,
        points[i + 2] as number,
        points[i + 3] as number,
        points[i + 4] as number,
        points[i + 5] as number,
      );
    }
    this.stroke(stroke);
  }

  triangle(points: readonly number[], fill: string): void {
    const { context } = this;
    context.beginPath();
    context.moveTo(points[0] ?? 0, points[1] ?? 0);
    context.lineTo(points[2] ?? 0, points[3] ?? 0);
    context.lineTo(points[4] ?? 0, points[5] ?? 0);
    context.closePath();
    context.fillStyle = fill;
    context.fill();
  }

  text(text: string, x: number, y: number, font: string, colour: string, width: number): void {
    const { context } = this;
    if (font !== this.font) {
      context.font = font;
      this.font = font;
    }
    context.fillStyle = colour;
    context.fillText(this.fitted(text, font, width), x, y);
  }

  private stroke(stroke: Stroke): void {
    const { context } = this;
    context.strokeStyle = stroke.colour;
    context.lineWidth = stroke.width;
    context.setLineDash(stroke.dash ?? []);
    context.stroke();
  }

  private fitted(text: string, font: string, width: number): string {
    const key = `${font}|${Math.round(width)}|${text}`;
    let known = this.cut.get(key);
    if (known === undefined) {
      known = fitText(text, width, (part) => this.context.measureText(part).width);
      this.cut.set(key, known);
    }
    return known;
  }
}

/** As much of a text as fits, with … for what is left out: words in a name's middle, else its end. */
export function fitText(text: string, width: number, measure: (part: string) => number): string {
  const whole = text.length > 200 ? text.slice(0, 200) : text;
  if (whole === text && measure(text) <= width + 0.5) return text;
  const words = fitWords(whole, (part) => measure(part) <= width);
  if (words) return words;
  let low = 0;
  let high = whole.length;
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (measure(`${whole.slice(0, middle)}…`) <= width) low = middle;
    else high = middle - 1;
  }
  // A part of a number is another number.
  return `${whole.slice(0, low).replace(/\d+$/, "")}…`;
}

const MOST_WORDS = 20;

/** `create_…_window_mask`, with the fewest words left out that fit; empty if a name has too few. */
function fitWords(name: string, fits: (part: string) => boolean): string {
  const words = /^\w+$/.test(name) ? name.split(/(?<=[a-z]_)(?=[^_])/i) : [];
  if (words.length > MOST_WORDS) return "";
  for (let out = 1; out <= words.length - 2; out++) {
    for (let start = words.length - out - 1; start > 0; start--) {
      const text = `${words.slice(0, start).join("")}…_${words.slice(start + out).join("")}`;
      if (fits(text)) return text;
    }
  }
  return "";
}

/** Collects an SVG document. Every text goes through `escapeXml`. */
export class SvgSurface implements Surface {
  private readonly parts: string[] = [];
  private opacity = "";

  constructor(private readonly measure: (text: string, font: string) => number) {}

  box(
    x: number,
    y: number,
    width: number,
    height: number,
    radius: number,
    fill: string,
    stroke?: Stroke,
  ): void {
    const size = `x="${n(x)}" y="${n(y)}" width="${n(width)}" height="${n(height)}" rx="${radius}"`;
    this.parts.push(
      `<rect ${size} fill="${escapeXml(fill || "none")}"${strokeText(stroke)}${this.opacity}/>`,
    );
  }

  curve(points: readonly number[], stroke: Stroke): void {
    const path = points.map((value, at) => `${at === 2 ? "C" : ""}${n(value)}`).join(" ");
    this.parts.push(`<path d="M${path}" fill="none"${strokeText(stroke)}${this.opacity}/>`);
  }

  triangle(points: readonly number[], fill: string): void {
    this.parts.push(
      `<polygon points="${points.map(n).join(" ")}" fill="${escapeXml(fill)}"${this.opacity}/>`,
    );
  }

  text(text: string, x: number, y: number, font: string, colour: string, width: number): void {
    const shown = fitText(text, width, (part) => this.measure(part, font));
    this.parts.push(
      `<text x="${n(x)}" y="${n(y)}" style="font:${escapeXml(font)}" fill="${escapeXml(colour)}"` +
        ` dominant-baseline="central"${this.opacity}>${escapeXml(shown)}</text>`,
    );
  }

  fade(alpha: number): void {
    this.opacity = alpha < 1 ? ` opacity="${alpha}"` : "";
  }

  /** The document, of a size. */
  document(width: number, height: number, background: string): string {
    const size = `width="${n(width)}" height="${n(height)}"`;
    return (
      `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${n(width)} ${n(height)}" ${size}>` +
      `<rect ${size} fill="${escapeXml(background)}"/>${this.parts.join("")}</svg>`
    );
  }
}

const n = (value: number): string => String(Math.round(value * 10) / 10);

function strokeText(stroke: Stroke | undefined): string {
  if (!stroke) return "";
  const dash = stroke.dash?.length ? ` stroke-dasharray="${stroke.dash.join(" ")}"` : "";
  return ` stroke="${escapeXml(stroke.colour)}" stroke-width="${stroke.width}"${dash}`;
}

/** Text as the content or an attribute of an XML element. */
export function escapeXml(text: string): string {
  return text
    .replace(/[^\t\n\r\u0020-\uD7FF\uE000-\uFFFD]/gu, "�")
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;");
}
