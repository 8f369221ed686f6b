/**
 * Characters that are not seen, or turn the direction of what follows: with them, one name looks
 * like another, and code like other code. They are shown as what they are. Pure.
 */

/** A joiner joins letters of some scripts and parts of emoji; after ASCII there is nothing to join. */
const UNSEEN =
  /[\u061c\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufeff]|(?<![^\0-\x7f])[\u200c\u200d]/g;

/** A text with a replacement character for each of them. */
export function withoutUnseen(text: string): string {
  return text.replace(UNSEEN, "\ufffd");
}

/** A text in parts: those that are seen as they are, and of each of the others its `U+202E`. */
export function unseenParts(text: string): { text: string; unseen: boolean }[] {
  const found: { text: string; unseen: boolean }[] = [];
  let at = 0;
  for (const match of text.matchAll(UNSEEN)) {
    if (match.index > at) found.push({ text: text.slice(at, match.index), unseen: false });
    const code = match[0].charCodeAt(0).toString(16).toUpperCase().padStart(4, "0");
    found.push({ text: `U+${code}`, unseen: true });
    at = match.index + match[0].length;
  }
  if (at < text.length) found.push({ text: text.slice(at), unseen: false });
  return found;
}
