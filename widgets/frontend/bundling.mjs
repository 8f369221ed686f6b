/**
 * How sources become text: the two kinds of import that are not code for the page itself, a style
 * sheet (`./shell.css`) and a worker (`./layout.worker?worker`), each a default-exported string.
 * The build (esbuild) and the tests (vite) import them through here, so both see the same text.
 */

import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import { Zstd } from "@hpcc-js/wasm-zstd";
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
 * @param {Edit} [edit] of the text of Graphviz's package
 */
export async function workerText(path, edit = layoutOnly) {
  const { outputFiles, metafile } = await build({
    ...SHARED,
    entryPoints: [path],
    format: "iife",
    metafile: true,
    plugins: [editGraphviz(edit)],
  });
  return { text: textOf(outputFiles), inputs: Object.keys(metafile.inputs) };
}

/** @typedef {(text: string) => string | Promise<string>} Edit */

/**
 * @param {Edit} edit of the text of Graphviz's package
 * @returns {import("esbuild").Plugin}
 */
const editGraphviz = (edit) => ({
  name: "graphviz",
  setup(context) {
    context.onLoad({ filter: /wasm-graphviz\/dist\/index\.js$/ }, async ({ path }) => ({
      contents: await edit(await readFile(path, "utf8")),
      loader: "js",
    }));
  },
});

/**
 * Leaves out of Graphviz's package what builds and reads graphs object by object: here it is given
 * DOT and answers with places. Where the package is written otherwise, all of it stays.
 *
 * @param {string} text
 */
const layoutOnly = (text) =>
  text
    .replaceAll(/=(\w+)\(\{(area|\w+):!0,/g, "=/* @__PURE__ */$1({$2:!0,")
    .replace(/acyclic\(\w+,[\s\S]*?(?=circo\(\w+,)/, "")
    .replace(/fdp\(\w+,\w+="svg"[\s\S]*?\}(?=\};export\{)/, "");

/**
 * The same with its WebAssembly as small as its own reader takes it: the package holds it as Zstandard
 * of a low level, in base91. It takes seconds, so only what is shipped is packed.
 *
 * @param {string} whole
 */
async function packSmaller(whole) {
  const text = layoutOnly(whole);
  const code = text.match(/'([^'\\]{100000,})'/)?.[1];
  const digits = text.match(/new Int8Array\(\[([-\d,]{250,})\]\)/)?.[1]?.split(",");
  if (!code || !digits) return text;
  /** @type {string[]} */
  const alphabet = [];
  for (const [at, digit] of digits.entries()) {
    if (digit !== "-1") alphabet[Number(digit)] = String.fromCharCode(at);
  }
  const before = fromBase91(code, alphabet);
  const zstd = await Zstd.load();
  const after = zstd.compress(zstd.decompress(before), 19);
  return text
    .replace(`new Uint8Array(${before.length})`, `new Uint8Array(${after.length})`)
    .replace(code, () => toBase91(after, alphabet));
}

/**
 * @param {string} text
 * @param {string[]} alphabet
 */
function fromBase91(text, alphabet) {
  const bytes = [];
  for (let at = 0, bits = 0, count = 0; at < text.length; at += 2) {
    const low = alphabet.indexOf(text[at] ?? "");
    const high = alphabet.indexOf(text[at + 1] ?? "");
    const pair = high < 0 ? low : low + high * 91;
    bits |= pair << count;
    count += high < 0 ? 8 - count : (pair & 8191) > 88 ? 13 : 14;
    for (; count > 7; count -= 8, bits >>>= 8) bytes.push(bits & 255);
  }
  return Uint8Array.from(bytes);
}

/**
 * @param {Uint8Array} bytes
 * @param {string[]} alphabet
 */
function toBase91(bytes, alphabet) {
  let text = "";
  let bits = 0;
  let count = 0;
  for (const byte of bytes) {
    bits |= byte << count;
    count += 8;
    if (count <= 13) continue;
    const wide = (bits & 8191) <= 88;
    const pair = bits & (wide ? 16383 : 8191);
    bits >>>= wide ? 14 : 13;
    count -= wide ? 14 : 13;
    text += `${alphabet[pair % 91]}${alphabet[Math.floor(pair / 91)]}`;
  }
  if (count > 0) text += alphabet[bits % 91];
  if (count > 7 || bits > 90) text += alphabet[Math.floor(bits / 91)];
  return text;
}

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
        asText(workerText(args.path, packSmaller), inputs),
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
