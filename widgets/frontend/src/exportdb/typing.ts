/** Keys for editing Python, in addition to the browser's own. Pure. */

/** A piece of a text to be replaced. */
export interface Edit {
  start: number;
  end: number;
  text: string;
}

const STEP = "    ";

/** Tab indents, Shift+Tab takes it back, Enter keeps the indent; null for other keys. */
export function edited(
  text: string,
  start: number,
  end: number,
  { key, shiftKey }: { key: string; shiftKey: boolean },
): Edit | null {
  const first = text.lastIndexOf("\n", start - 1) + 1;
  if (key === "Enter" && !shiftKey) {
    const before = text.slice(first, start);
    const indent = /^ */.exec(before)?.[0] ?? "";
    return { start, end, text: `\n${indent}${before.trimEnd().endsWith(":") ? STEP : ""}` };
  }
  if (key !== "Tab") return null;
  const several = text.slice(start, end).includes("\n");
  if (!shiftKey && !several) return { start, end, text: STEP };
  const lines = text.slice(first, end).split("\n");
  const moved = lines.map((line) => (shiftKey ? line.replace(/^ {1,4}/, "") : line && STEP + line));
  return { start: first, end, text: moved.join("\n") };
}
