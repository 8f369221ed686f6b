/** Finds items with all words of a query, best first. The kernel searches alike. Pure. */

export function find<T>(
  items: readonly T[],
  query: string,
  texts: (item: T) => readonly string[],
): T[] {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  const ranked: [rank: number, item: T][] = [];
  for (const item of items) {
    const folded = texts(item).map((text) => text.toLowerCase());
    const ranks = words.map((word) => folded.findIndex((text) => text.includes(word)));
    if (!ranks.includes(-1)) ranked.push([ranks.reduce((sum, rank) => sum + rank, 0), item]);
  }
  return ranked.sort((one, other) => one[0] - other[0]).map(([, item]) => item);
}
