/**
 * Builds the front end into `widgets/static/`: `explorer.js` (one ES module), `layout.js` (the layout
 * worker, which it loads on demand), `loader.js` (what an anywidget loads first), `lab.js`
 * (JupyterLab's extension), `LICENSES.txt`, and `sources.sha256`, which is written last and says what
 * the rest was built from.
 */

import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { build } from "esbuild";
import { asTextInEsbuild, SHARED } from "./bundling.mjs";
import { notices } from "./notices.mjs";
import { sourceList } from "./sources.mjs";

const HERE = import.meta.dirname;
const STATIC = join(HERE, "..", "static");
const LIST = join(STATIC, "sources.sha256");

process.chdir(HERE); // so that no path of this machine gets into a bundle
const list = sourceList(HERE);
rmSync(LIST, { force: true }); // a build that fails half-way is not up to date
mkdirSync(STATIC, { recursive: true });

/** @type {Set<string>} */
const inputs = new Set();
for (const [entry, name, format] of /** @type {const} */ ([
  ["src/index.ts", "explorer.js", "esm"],
  ["src/layout_asset.ts", "layout.js", "esm"],
  ["src/loader.ts", "loader.js", "esm"],
  ["src/lab/index.ts", "lab.js", "iife"],
])) {
  const result = await build({
    ...SHARED,
    entryPoints: [join(HERE, entry)],
    format,
    logLevel: "warning",
    metafile: true,
    plugins: [asTextInEsbuild(inputs)],
    outfile: join(STATIC, name),
    write: true,
  });
  for (const input of Object.keys(result.metafile.inputs)) inputs.add(input);
  const size = readFileSync(join(STATIC, name)).byteLength;
  console.log(`widgets/static/${name}  ${(size / 1024).toFixed(1)} kB`);
}
writeFileSync(join(STATIC, "LICENSES.txt"), notices(HERE, inputs));
writeFileSync(LIST, list);
