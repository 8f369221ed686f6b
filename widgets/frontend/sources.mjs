/**
 * The list of sources that a bundle was built from, in the format of `sha256sum`. It is written
 * beside the bundle; `hatch_build.py` makes the same list to see whether the bundle is up to date.
 */

import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";

/**
 * One line a file, sorted by path: hash, two spaces, path.
 *
 * @param {string} folder the folder that holds `package.json`
 */
export function sourceList(folder) {
  const atTop = readdirSync(folder).filter((name) => /\.(json|mjs)$/.test(name));
  const below = readdirSync(join(folder, "src"), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)).replaceAll("\\", "/"))
    .filter(isSource);
  const line = (/** @type {string} */ path) =>
    `${createHash("sha256")
      .update(readFileSync(join(folder, path)))
      .digest("hex")}  ${path}\n`;
  return [...atTop, ...below].sort().map(line).join("");
}

/**
 * Tests and what only tests use do not go into a bundle.
 *
 * @param {string} path
 */
function isSource(path) {
  return !/\.test\.tsx?$/.test(path) && !path.startsWith("src/testing/");
}
