/** Saves the visible graph as a picture. */

import { type Camera, type Size, visible } from "./camera";
import { type Marks, paint } from "./paint";
import type { Palette } from "./palette";
import type { Measure, Scene } from "./scene";
import { CanvasSurface, SvgSurface } from "./surface";

/** What is in view, as an SVG document. */
export function asSvg(
  scene: Scene,
  camera: Camera,
  view: Size,
  palette: Palette,
  marks: Marks,
  measure: Measure,
): string {
  const seen = visible(camera, view);
  const surface = new SvgSurface(measure);
  paint(surface, scene, seen, 1, palette, marks);
  return surface.document(seen.x, seen.y, seen.width, seen.height, palette.background);
}

/** What is in view, as a PNG at twice its size on the screen. */
export async function asPng(
  scene: Scene,
  camera: Camera,
  view: Size,
  palette: Palette,
  marks: Marks,
): Promise<Blob> {
  const canvas = document.createElement("canvas");
  const scale = 2 * camera.zoom;
  canvas.width = Math.round(view.width * 2);
  canvas.height = Math.round(view.height * 2);
  const context = canvas.getContext("2d");
  if (!context) throw new Error("This page cannot draw pictures.");
  context.fillStyle = palette.background;
  context.fillRect(0, 0, canvas.width, canvas.height);
  context.setTransform(scale, 0, 0, scale, -camera.x * scale, -camera.y * scale);
  paint(new CanvasSurface(context), scene, visible(camera, view), camera.zoom, palette, marks);
  return new Promise((resolve, reject) => {
    canvas.toBlob((blob) =>
      blob ? resolve(blob) : reject(new Error("The picture is too large.")),
    );
  });
}

/** Hands a file to the browser's download. */
export function download(name: string, content: Blob): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(content);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}
