/**
 * Light or dark, to match the widget's surroundings: as the host says, else by the colour behind
 * the widget, else by the system's setting. A shadow root hides the page's selectors from style
 * sheets, so this is read in code.
 */

export type Theme = "light" | "dark";

/** The theme at an element of the page. */
export function themeAt(element: Element): Theme {
  const said = document.body.dataset.jpThemeLight;
  if (said !== undefined) return said === "true" ? "light" : "dark";
  const colour = colourBehind(element);
  if (colour) return luminance(colour) < 0.4 ? "dark" : "light";
  return matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
}

type Colour = [red: number, green: number, blue: number];

/**
 * The nearest opaque background around an element, through shadow roots; null if there is none.
 */
function colourBehind(element: Element): Colour | null {
  for (let at: Element | null = parentOf(element); at; at = parentOf(at)) {
    const colour = parseColour(getComputedStyle(at).backgroundColor);
    if (colour) return colour;
  }
  return null;
}

function parentOf(element: Element): Element | null {
  if (element.parentElement) return element.parentElement;
  const root = element.getRootNode();
  return root instanceof ShadowRoot ? root.host : null;
}

/**
 * A computed colour's numbers; null for anything less than half opaque. For colours outside sRGB,
 * such as marimo's `oklch(1 0 0)`, the grey of their lightness. Pure.
 */
export function parseColour(text: string): Colour | null {
  const [, space = "", rest = ""] = text.match(/^([a-z]+)\((?:[a-z][\w-]* )?(.*)/) ?? [];
  const found = rest.match(/-?\d*\.?\d+(?:e[+-]?\d+)?/g) ?? [];
  const [first, second, third, alpha = 1] = found.map(Number);
  if (first === undefined || second === undefined || third === undefined || alpha < 0.5)
    return null;
  if (space.startsWith("rgb")) return [first, second, third];
  if (space === "color") return [first * 255, second * 255, third * 255];
  const lightness = (first / (space.startsWith("ok") ? 1 : 100)) * 255;
  return [lightness, lightness, lightness];
}

/** 0 for black, 1 for white; good enough to tell a dark page from a light one. Pure. */
export function luminance([red, green, blue]: Colour): number {
  return (0.2126 * red + 0.7152 * green + 0.0722 * blue) / 255;
}
