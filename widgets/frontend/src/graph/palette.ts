/** The colours of the graph, read from the style sheet's tokens, so that a canvas follows the theme. */

const NAMES = {
  background: "--tx-bg",
  surface: "--tx-surface",
  text: "--tx-fg",
  muted: "--tx-muted",
  border: "--tx-border",
  edge: "--tx-edge",
  select: "--tx-accent",
  selectFill: "--tx-accent-soft",
  scopeEven: "--tx-scope-even",
  scopeOdd: "--tx-scope-odd",
} as const;

const ACCENTS = [
  "aten",
  "prim",
  "custom",
  "higher_order",
  "python",
  "input",
  "output",
  "parameter",
  "buffer",
  "constant_tensor",
] as const;

/** As many symbols as there are colours; the next one starts over. */
export const SYMBOL_COLOURS = 10;

export interface Palette extends Record<keyof typeof NAMES, string> {
  accents: Map<string, string>;
  symbols: string[];
}

/** The palette at an element. A probe resolves `var()` and `light-dark()` to plain colours. */
export function readPalette(element: Element): Palette {
  const probe = document.createElement("span");
  probe.hidden = true;
  element.parentNode?.append(probe);
  const style = getComputedStyle(probe);
  const read = (name: string): string => {
    probe.style.color = `var(${name}, gray)`;
    return style.color;
  };
  const plain = Object.fromEntries(
    Object.entries(NAMES).map(([key, name]) => [key, read(name)]),
  ) as Record<keyof typeof NAMES, string>;
  const palette = {
    ...plain,
    accents: new Map(ACCENTS.map((name) => [name, read(`--tx-op-${name.replace("_", "-")}`)])),
    symbols: Array.from({ length: SYMBOL_COLOURS }, (_, index) => read(`--tx-sym-${index}`)),
  };
  probe.remove();
  return palette;
}

/** Calls back when the theme may have changed. Returns how to stop. */
export function onThemeChange(callback: () => void): () => void {
  const observer = new MutationObserver(callback);
  const attributes = {
    attributes: true,
    attributeFilter: ["data-jp-theme-light", "data-jp-theme-name", "class", "style", "data-theme"],
  };
  observer.observe(document.body, attributes);
  observer.observe(document.documentElement, attributes);
  const media = matchMedia("(prefers-color-scheme: dark)");
  media.addEventListener("change", callback);
  return () => {
    observer.disconnect();
    media.removeEventListener("change", callback);
  };
}
