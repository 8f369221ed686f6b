/** Prints the page as VS Code would hold it, and its script, for a test in a browser: JSON. */

import { join } from "node:path";
import { build, SHARED } from "../../../widgets/frontend/bundling.mjs";

const SOURCES = join(import.meta.dirname, "..", "src");

/** @param {string} path */
async function bundled(path) {
  const made = await build({ ...SHARED, entryPoints: [join(SOURCES, path)], format: "esm" });
  return made.outputFiles?.[0]?.text ?? "";
}

const pure = `data:text/javascript,${encodeURIComponent(await bundled("page_html.ts"))}`;
const { pageHtml } = await import(pure);
const [script, nonce] = process.argv.slice(2);
const text = { html: pageHtml({ script, nonce }), script: await bundled("webview/main.ts") };
process.stdout.write(JSON.stringify(text));
