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
 * The nearest opaque background around an element, through shadow roots; null where there is none.
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

/** Of `rgb(r, g, b)` and `rgba(r, g, b, a)`; null for anything less than half opaque. Pure. */
export function parseColour(text: string): Colour | null {
  const [red, green, blue, alpha = 1] = (text.match(/[\d.]+/g) ?? []).map(Number);
  if (red === undefined || green === undefined || blue === undefined || alpha < 0.5) return null;
  return [red, green, blue];
}

/** 0 for black, 1 for white; good enough to tell a dark page from a light one. Pure. */
export function luminance([red, green, blue]: Colour): number {
  return (0.2126 * red + 0.7152 * green + 0.0722 * blue) / 255;
}
