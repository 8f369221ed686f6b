/** The licences of the packages that a bundle contains, as one text. */

import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** What a package contains in compiled form without a licence text of its own in the package. */
const COMPILED_IN = {
  "@hpcc-js/wasm-graphviz": `This package contains, compiled to WebAssembly:

Graphviz (Eclipse Public License)
Copyright AT&T and the Graphviz contributors. Provided as it is, without warranties or conditions of
any kind, and without liability for damages. Its source code, with the full text of its licence, is
at https://gitlab.com/graphviz/graphviz; the licence is explained at https://graphviz.org/license.

Expat (MIT)
Copyright (c) 1998-2000 Thai Open Source Software Center Ltd and Clark Cooper
Copyright (c) 2001-2025 Expat maintainers

Permission is hereby granted, free of charge, to any person obtaining a copy of this software and
associated documentation files (the "Software"), to deal in the Software without restriction,
including without limitation the rights to use, copy, modify, merge, publish, distribute,
sublicense, and/or sell copies of the Software, and to permit persons to whom the Software is
furnished to do so, subject to the following conditions:

The above copyright notice and this permission notice shall be included in all copies or substantial
portions of the Software.

THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR IMPLIED, INCLUDING BUT
NOT LIMITED TO THE WARRANTIES OF MERCHANTABILITY, FITNESS FOR A PARTICULAR PURPOSE AND
NONINFRINGEMENT. IN NO EVENT SHALL THE AUTHORS OR COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES
OR OTHER LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR OTHERWISE, ARISING FROM, OUT OF OR IN
CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE SOFTWARE.
`,
};

/**
 * @param {string} folder the folder that holds `node_modules`
 * @param {Iterable<string>} inputs paths of the files that went into the bundle
 */
export function notices(folder, inputs) {
  const packages = new Set(
    [...inputs].flatMap((path) => path.match(/node_modules\/((?:@[^/]+\/)?[^/]+)/)?.[1] ?? []),
  );
  return [...packages]
    .sort()
    .map((name) => notice(name, join(folder, "node_modules", name)))
    .join(`\n${"-".repeat(80)}\n\n`);
}

/**
 * @param {string} name
 * @param {string} at
 */
function notice(name, at) {
  const { version, license } = JSON.parse(readFileSync(join(at, "package.json"), "utf8"));
  const file = existsSync(at) && readdirSync(at).find((entry) => /^licen[cs]e/i.test(entry));
  const text = file ? `\n${readFileSync(join(at, file), "utf8").trim()}\n` : "";
  const within = Object.entries(COMPILED_IN).find(([owner]) => owner === name)?.[1];
  return `${name} ${version} (${license})\n${text}${within ? `\n${within}` : ""}`;
}
