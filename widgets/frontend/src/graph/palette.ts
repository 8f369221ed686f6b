/**
 * The colours of the graph, read from the style sheet's tokens, so that a canvas follows the theme.
 */

import { ensure } from "../maps";
import { SYMBOL_COLOUR_NAMES } from "../symbol_colour";

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
  added: "--tx-good",
  removed: "--tx-danger",
  changed: "--tx-warn",
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

/** The shades of one kind of op. */
export interface Accent {
  plain: string;
  /** Behind a title. */
  soft: string;
  /** Around a box. */
  line: string;
  /** A whole box seen from afar. */
  patch: string;
}

export interface Palette extends Record<keyof typeof NAMES, string> {
  accents: Map<string, Accent>;
  /** For ops of no particular kind. */
  neutral: Accent;
  symbols: string[];
  /** A colour of CSS as a plain one: `var(--tx-good)`. */
  plainOf: (colour: string) => string;
}

/** The palette at an element. Probes resolve `var()` and `light-dark()` to plain colours. */
export function readPalette(element: Element): Palette {
  const accentNames = ACCENTS.map((name) => `--tx-op-${name.replace("_", "-")}`);
  const colours = readColours(element, [
    ...Object.values(NAMES),
    ...accentNames,
    ...SYMBOL_COLOUR_NAMES,
  ]);
  const read = (name: string): string => colours.get(name) ?? "gray";
  const plain = Object.fromEntries(
    Object.entries(NAMES).map(([key, name]) => [key, read(name)]),
  ) as Record<keyof typeof NAMES, string>;
  const shades = (colour: string): Accent => ({
    plain: colour,
    soft: mix(colour, plain.surface, 0.16),
    line: mix(colour, plain.border, 0.4),
    patch: mix(colour, plain.surface, 0.7),
  });
  return {
    ...plain,
    accents: new Map(ACCENTS.map((name, at) => [name, shades(read(accentNames[at] ?? ""))])),
    neutral: { ...shades(plain.muted), line: plain.border },
    symbols: SYMBOL_COLOUR_NAMES.map(read),
    plainOf: plainColours(element),
  };
}

/** Reads colours at an element, each once. A value that is not a colour becomes gray. */
function plainColours(element: Element): (colour: string) => string {
  const known = new Map<string, string>();
  return (colour) =>
    ensure(known, colour, () => {
      const probe = document.createElement("span");
      probe.hidden = true;
      probe.style.color = "gray";
      probe.style.color = colour; // stays gray if it is not one
      element.parentNode?.append(probe);
      const read = getComputedStyle(probe).color;
      probe.remove();
      return read || "gray";
    });
}

/** Adds all probes before reading the first, so that the page computes its styles once. */
function readColours(element: Element, names: readonly string[]): Map<string, string> {
  const home = document.createElement("span");
  home.hidden = true;
  for (const name of names) {
    const probe = document.createElement("span");
    probe.style.color = `var(${name}, gray)`;
    home.append(probe);
  }
  element.parentNode?.append(home);
  const read = Array.from(home.children, (probe) => getComputedStyle(probe).color);
  home.remove();
  // Outside of a document the computed style is empty, which a canvas would paint black.
  return new Map(names.map((name, at) => [name, read[at] || "gray"]));
}

/** The shades of a box by its share of the largest amount, from 0 to 1. */
export function shareAccent(
  { border, muted, surface }: Palette,
  most: string,
  share: number,
): Accent {
  const part = Math.sqrt(share); // else all but a few would look alike
  return {
    plain: mix(most, muted, part),
    soft: mix(most, surface, 0.55 * part),
    line: mix(most, border, part),
    patch: mix(most, surface, 0.08 + 0.82 * part),
  };
}

/** `part` of one colour and the rest of another; the first if one of them cannot be read. */
export function mix(colour: string, other: string, part: number): string {
  const [a, b] = [channels(colour), channels(other)];
  if (!a || !b) return colour;
  const mixed = a.map((value, at) => Math.round(value * part + (b[at] ?? 0) * (1 - part)));
  return `rgb(${mixed.join(", ")})`;
}

/** Red, green and blue of a computed colour, from 0 to 255. */
function channels(colour: string): number[] | null {
  const numbers = (colour.match(/-?[\d.]+(?:e-?\d+)?/g) ?? []).map(Number).slice(0, 3);
  if (numbers.length < 3) return null;
  if (colour.startsWith("rgb")) return numbers;
  return colour.startsWith("color(srgb ") ? numbers.map((value) => value * 255) : null;
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
  const queries = ["(prefers-color-scheme: dark)", "(forced-colors: active)"].map((text) =>
    matchMedia(text),
  );
  for (const query of queries) query.addEventListener("change", callback);
  return () => {
    observer.disconnect();
    for (const query of queries) query.removeEventListener("change", callback);
  };
}

/** Tokens that tell themes apart, each as a property of a probe. */
const WATCHED = {
  color: "--tx-fg",
  backgroundColor: "--tx-bg",
  outlineColor: "--tx-accent",
  caretColor: "--tx-border",
} as const;

/**
 * Calls back when the colours within an element change, for whatever reason: a style sheet that
 * loads late changes no attribute. A CSS transition on the probe detects it.
 */
export function onColourChange(within: Element, callback: () => void): () => void {
  const probe = document.createElement("span");
  probe.setAttribute("aria-hidden", "true");
  Object.assign(probe.style, { position: "absolute", visibility: "hidden", pointerEvents: "none" });
  for (const [property, name] of Object.entries(WATCHED)) {
    Object.assign(probe.style, { [property]: `var(${name})` });
  }
  probe.style.transition = "color 1ms, background-color 1ms, outline-color 1ms, caret-color 1ms";
  probe.addEventListener("transitionrun", callback);
  within.append(probe);
  return () => probe.remove();
}

/**
 * Calls back when the palette at an element may have changed: when the theme or its colours change,
 * and when the root above adopts them, which may happen later, or after a canvas was inserted
 * between the two.
 */
export function onPaletteChange(element: Element, callback: () => void): () => void {
  const stops = [onThemeChange(callback)];
  if (element.parentElement) stops.push(onColourChange(element.parentElement, callback));
  const stop = (): void => {
    for (const each of stops) each();
  };
  const root = element.closest(".tx-root");
  if (!root) return stop;
  const observer = new MutationObserver(callback);
  observer.observe(root, { attributes: true, attributeFilter: ["data-tx-theme"] });
  return () => {
    observer.disconnect();
    stop();
  };
}
