/** Builds the extension into `dist/`, with the front end's own esbuild and settings. */

import { copyFileSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { build, SHARED } from "../../widgets/frontend/bundling.mjs";

const HERE = import.meta.dirname;
process.chdir(HERE); // so that no path of this machine gets into a bundle
mkdirSync("dist", { recursive: true });
copyFileSync(join("..", "..", "LICENSE"), "LICENSE"); // vsce wants it beside package.json
await build({
  ...SHARED,
  entryPoints: ["src/extension.ts"],
  outfile: "dist/extension.js",
  platform: "node",
  format: "cjs",
  external: ["vscode"],
  logLevel: "warning",
  write: true,
});
await build({
  ...SHARED,
  entryPoints: ["src/webview/main.ts"],
  outfile: "dist/webview.js",
  format: "esm",
  logLevel: "warning",
  write: true,
});
