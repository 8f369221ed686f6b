/** The colours that tell symbols apart, and lines: `--tx-sym-0` and on of `style/tokens.css`. */

/** As many as there are; the next one starts over. */
const COLOURS = 10;

/** The custom properties, in order. */
export const SYMBOL_COLOUR_NAMES: readonly string[] = Array.from(
  { length: COLOURS },
  (_, index) => `--tx-sym-${index}`,
);

/** The CSS colour of the symbol of this number. */
export function symbolColour(symbol: number): string {
  return `var(${SYMBOL_COLOUR_NAMES[symbol % COLOURS]})`;
}
