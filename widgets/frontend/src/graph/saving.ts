/** Saves a graph, all of it as it is open now, as a picture. */

import type { Marks } from "./marks";
import { paint } from "./paint";
import type { Palette } from "./palette";
import type { Measure, Scene } from "./scene";
import { CanvasSurface, SvgSurface } from "./surface";

/** Pixels per unit of the scene, where the picture is not too large for that. */
const PNG_SCALE = 2;
/** The largest canvas that browsers support. */
const LONGEST_SIDE = 16_000;
const MOST_PIXELS = 60_000_000;

export function asSvg(scene: Scene, palette: Palette, marks: Marks, measure: Measure): string {
  const surface = new SvgSurface(measure);
  paint(surface, scene, wholeOf(scene), 1, palette, marks);
  return surface.document(scene.width, scene.height, palette.background);
}

/** @throws Error with a sentence if the browser cannot make the picture. */
export async function asPng(scene: Scene, palette: Palette, marks: Marks): Promise<Blob> {
  const scale = pngScale(scene);
  const canvas = document.createElement("canvas");
  canvas.width = Math.ceil(scene.width * scale);
  canvas.height = Math.ceil(scene.height * scale);
  const context = canvas.getContext("2d");
  if (!context) throw new Error("This page cannot save pictures.");
  context.fillStyle = palette.background;
  context.fillRect(0, 0, canvas.width, canvas.height);
  context.setTransform(scale, 0, 0, scale, 0, 0);
  const surface = new CanvasSurface(context);
  surface.begin();
  paint(surface, scene, wholeOf(scene), scale, palette, marks);
  return new Promise((resolve, reject) => {
    canvas.toBlob((blob) => {
      if (blob) resolve(blob);
      else reject(new Error("The picture is too large for this browser. Save it as SVG."));
    });
  });
}

/** Pixels per unit of a scene, so that the picture stays within what browsers can make. */
export function pngScale({ width, height }: { width: number; height: number }): number {
  const bySide = LONGEST_SIDE / Math.max(width, height, 1);
  const byArea = Math.sqrt(MOST_PIXELS / Math.max(width * height, 1));
  return Math.min(PNG_SCALE, bySide, byArea);
}

function wholeOf(scene: Scene): { x: number; y: number; width: number; height: number } {
  return { x: 0, y: 0, width: scene.width, height: scene.height };
}

/** Hands a file to the browser's download. */
export function download(name: string, content: Blob): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(content);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}
