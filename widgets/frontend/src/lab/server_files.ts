/** Python's paths of files as the server's, which are below its root. Pure. */

const slashed = (path: string): string => path.replaceAll("\\", "/");

/**
 * The path below the server's root; null for a file that is not there.
 *
 * @param roots the folder that is served, by each of its names
 */
export function belowRoot(roots: readonly string[], path: string): string | null {
  for (const root of roots) {
    const folder = slashed(root).replace(/\/$/, "");
    if (slashed(path).startsWith(`${folder}/`)) return slashed(path).slice(folder.length + 1);
  }
  return null;
}
