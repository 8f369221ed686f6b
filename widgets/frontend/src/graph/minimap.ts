/** A small picture of the whole scene with the part in view marked; click or drag to go there. */

import type { Rect, Size } from "./camera";
import type { Palette } from "./palette";
import type { Scene, SceneBox } from "./scene";

export const MINIMAP: Size = { width: 116, height: 132 };
const DEEPEST = 3;

/** How a scene is shrunk to the minimap. */
export function minimapScale(scene: Scene): number {
  return Math.min(MINIMAP.width / scene.width, MINIMAP.height / scene.height);
}

/** How large the minimap of a scene is: no larger than its scene, shrunk. */
export function minimapSize(scene: Scene): Size {
  const scale = minimapScale(scene);
  return { width: Math.ceil(scene.width * scale), height: Math.ceil(scene.height * scale) };
}

/** Whether there is more than the view shows. */
export function needsMinimap(scene: Scene, seen: Rect): boolean {
  return scene.width > seen.width * 1.02 || scene.height > seen.height * 1.02;
}

export function paintMinimap(
  context: CanvasRenderingContext2D,
  scene: Scene,
  seen: Rect,
  palette: Palette,
  ratio: number,
): void {
  const scale = minimapScale(scene);
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.clearRect(0, 0, MINIMAP.width, MINIMAP.height);
  context.setTransform(ratio * scale, 0, 0, ratio * scale, 0, 0);
  const draw = (box: SceneBox): void => {
    if (box.width * scale < 1 && box.height * scale < 1) return;
    context.fillStyle = box.open
      ? palette.scopeOdd
      : (palette.accents.get(box.item.accent) ?? palette.muted);
    context.globalAlpha = box.open ? 1 : 0.55;
    context.fillRect(box.x, box.y, box.width, box.height);
    if (box.open && box.depth < DEEPEST) box.children.forEach(draw);
  };
  scene.root.children.forEach(draw);
  context.globalAlpha = 1;
  context.strokeStyle = palette.select;
  context.lineWidth = 1.5 / scale;
  const x = Math.max(seen.x, 0);
  const y = Math.max(seen.y, 0);
  const width = Math.min(seen.x + seen.width, scene.width) - x;
  const height = Math.min(seen.y + seen.height, scene.height) - y;
  context.strokeRect(x, y, Math.max(width, 4 / scale), Math.max(height, 4 / scale));
}
