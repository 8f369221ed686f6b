/** The licences of the packages that a bundle contains, as one text. */

import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

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
  return `${name} ${version} (${license})\n${text}`;
}
