/** A decomposition table as text, and as ticked ops. Pure; the engine reads the same. */

export interface Table {
  base: "core" | "none" | "only";
  /** Of `core`, the ops that stay whole; of `only`, those that do not. */
  ops: readonly string[];
}

/** The meaning of a text; null if it has none. */
export function parseTable(text: string): Table | null {
  const [first = "core", ...rest] = text.replaceAll(",", " ").split(/\s+/).filter(Boolean);
  if (first === "none" && rest.length === 0) return { base: "none", ops: [] };
  const kept = rest.every((word) => /^-./.test(word));
  if (first === "core" && kept) return { base: "core", ops: rest.map((word) => word.slice(1)) };
  const named = rest.length > 0 && rest.every((word) => !word.startsWith("-"));
  return first === "only" && named ? { base: "only", ops: rest } : null;
}

export function printTable({ base, ops }: Table): string {
  return [base, ...ops.map((op) => (base === "core" ? `-${op}` : op))].join(" ");
}

/** Whether a table decomposes an op, `aten.linear.default`. */
export function decomposes(table: Table, op: string): boolean {
  const isNamed = table.ops.some((name) => isCalled(op, name));
  return table.base === "core" ? !isNamed : isNamed;
}

/** A table that decomposes an op if the first did not, and vice versa. */
export function toggled(table: Table, op: string): Table {
  const isNamed = table.ops.some((name) => isCalled(op, name));
  const others = table.ops.filter((name) => !isCalled(op, name));
  if (table.base === "core") return { base: "core", ops: isNamed ? others : [...others, op] };
  const ops = isNamed ? others : [...others, op];
  return ops.length > 0 ? { base: "only", ops } : { base: "none", ops };
}

/** Whether a name matches an op: `linear`, `aten.linear`, `aten.linear.default`. */
function isCalled(op: string, name: string): boolean {
  const packet = op.slice(0, op.lastIndexOf("."));
  return [op, packet, packet.slice(packet.lastIndexOf(".") + 1)].includes(name);
}
