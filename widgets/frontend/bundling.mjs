/**
 * How sources become text: the two kinds of import that are not code for the page itself, a style
 * sheet (`./shell.css`) and a worker (`./layout.worker?worker`), each a default-exported string.
 * The build (esbuild) and the tests (vite) import them through here, so both see the same text.
 */

import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import { build } from "esbuild";

export { build };

/** What every bundle of this project has in common. */
export const SHARED = /** @type {const} */ ({
  bundle: true,
  minify: true,
  write: false,
  target: "es2022",
  charset: "utf8",
  legalComments: "none", // notices are gathered in LICENSES.txt
  logLevel: "silent",
});

/**
 * A style sheet with what it imports, as text.
 *
 * @param {string} path
 */
export async function styleText(path) {
  const { outputFiles, metafile } = await build({
    ...SHARED,
    entryPoints: [path],
    metafile: true,
  });
  return { text: textOf(outputFiles), inputs: Object.keys(metafile.inputs) };
}

/**
 * A worker with all it imports, as the text of one classic script: Chromium refuses a module from
 * `blob:` where a page has no origin, such as a report opened from disk.
 *
 * @param {string} path
 */
export async function workerText(path) {
  const { outputFiles, metafile } = await build({
    ...SHARED,
    entryPoints: [path],
    format: "iife",
    metafile: true,
    plugins: [LAYOUT_ONLY],
  });
  return { text: textOf(outputFiles), inputs: Object.keys(metafile.inputs) };
}

/**
 * Leaves out of Graphviz's package what builds and reads graphs object by object: here it is given
 * DOT and answers with places. Where the package is written otherwise, all of it stays.
 *
 * @type {import("esbuild").Plugin}
 */
const LAYOUT_ONLY = {
  name: "layout-only",
  setup(context) {
    context.onLoad({ filter: /wasm-graphviz\/dist\/index\.js$/ }, async ({ path }) => {
      const text = await readFile(path, "utf8");
      const contents = text
        .replaceAll(/=(\w+)\(\{(area|\w+):!0,/g, "=/* @__PURE__ */$1({$2:!0,")
        .replace(/acyclic\(\w+,[\s\S]*?(?=circo\(\w+,)/, "")
        .replace(/fdp\(\w+,\w+="svg"[\s\S]*?\}(?=\};export\{)/, "");
      return { contents, loader: "js" };
    });
  },
};

/** @param {import("esbuild").OutputFile[]} files */
function textOf(files) {
  const [file] = files;
  if (!file) throw new Error("esbuild wrote nothing");
  return file.text;
}

/** @param {string} specifier */
const isWorker = (specifier) => specifier.endsWith("?worker");
/** @param {string} specifier */
const isStyle = (specifier) => specifier.endsWith(".css");

/** @param {string} specifier */
const withoutQuery = (specifier) => specifier.slice(0, -"?worker".length);

/**
 * The plugin for esbuild.
 *
 * @param {Set<string>} [inputs] receives the files that went into the strings
 * @returns {import("esbuild").Plugin}
 */
export function asTextInEsbuild(inputs = new Set()) {
  return {
    name: "as-text",
    setup(context) {
      context.onResolve({ filter: /\?worker$/ }, async (args) => {
        const found = await context.resolve(withoutQuery(args.path), {
          kind: args.kind,
          resolveDir: args.resolveDir,
        });
        return found.errors.length ? found : { path: found.path, namespace: "worker-text" };
      });
      context.onLoad({ filter: /./, namespace: "worker-text" }, (args) =>
        asText(workerText(args.path), inputs),
      );
      context.onLoad({ filter: /\.css$/ }, (args) => asText(styleText(args.path), inputs));
    },
  };
}

/**
 * @param {Promise<{ text: string, inputs: string[] }>} bundled
 * @param {Set<string>} inputs
 * @returns {Promise<import("esbuild").OnLoadResult>}
 */
async function asText(bundled, inputs) {
  const result = await bundled;
  for (const input of result.inputs) inputs.add(input);
  return {
    contents: result.text,
    loader: "text",
    watchFiles: result.inputs.map((input) => resolve(input)),
  };
}

/**
 * The plugin for vite, and so for vitest.
 *
 * @returns {import("vite").Plugin}
 */
export function asTextInVite() {
  const mark = "\0as-text:";
  return {
    name: "as-text",
    enforce: "pre", // vite gives both kinds of import a meaning of its own
    async resolveId(specifier, importer) {
      if (!isWorker(specifier) && !isStyle(specifier)) return null;
      const plain = isWorker(specifier) ? withoutQuery(specifier) : specifier;
      const found = await this.resolve(plain, importer, { skipSelf: true });
      // The suffix keeps vite from handling it as a style sheet.
      return found ? `${mark}${found.id}.js` : null;
    },
    async load(id) {
      if (!id.startsWith(mark)) return null;
      const path = id.slice(mark.length, -".js".length);
      const { text, inputs } = await (isStyle(path) ? styleText(path) : workerText(path));
      for (const input of inputs) this.addWatchFile(resolve(input));
      return `export default ${JSON.stringify(text)};`;
    },
  };
}
