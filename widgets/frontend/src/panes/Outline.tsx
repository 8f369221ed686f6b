/** The Outline pane: scopes and ops as a tree that keys and a screen reader can walk, and search. */

import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { capped, counted } from "../format";
import { buildForest, type Item } from "../graph/items";
import type { Program } from "../program";
import { searchNodes } from "../search";
import type { Store } from "../store";
import { openTo, outlineRows, type Row, resultRows } from "./outline_rows";
import { useVirtual } from "./virtual";

const ROW = 22;

export function Outline({ store, program }: { store: Store; program: Program }) {
  const housekeeping = store.housekeeping.value;
  const forest = useMemo(
    () => buildForest(program, { housekeeping, parameters: false }),
    [program, housekeeping],
  );
  const [open, setOpen] = useState<ReadonlySet<string>>(new Set());
  const [active, setActive] = useState(0);
  const input = useRef<HTMLInputElement>(null);
  const query = store.query.value;
  const found = useMemo(() => searchNodes(program, query), [program, query]);
  const searching = query.trim() !== "";
  const rows = useMemo(
    () => (searching ? resultRows(forest, found) : outlineRows(forest, open)),
    [forest, open, searching, found],
  );
  const { element, range, scrollTo } = useVirtual(ROW, rows.length);
  const lit = litItems(store, forest.itemOf);

  useEffect(() => {
    const first = [...lit][0];
    if (!first || store.origin.peek() === "outline" || searching || lit.size > 20) return;
    setOpen((now) => openTo(first, now));
    requestAnimationFrame(() => {
      scrollTo(outlineRows(forest, openTo(first, open)).findIndex((row) => row.item === first));
    });
  }, [store.selection.value, forest]);

  const go = (index: number): void => {
    const row = rows[Math.min(Math.max(index, 0), rows.length - 1)];
    if (!row) return;
    setActive(rows.indexOf(row));
    scrollTo(rows.indexOf(row));
    choose(store, row.item);
  };
  const toggle = (item: Item): void => {
    const next = new Set(open);
    if (!next.delete(item.key)) next.add(item.key);
    setOpen(next);
  };
  const keys = (event: KeyboardEvent): void => {
    const row = rows[active];
    const parent = row && rows.findLastIndex((each, at) => at < active && each.depth < row.depth);
    const actions: Record<string, () => void> = {
      ArrowDown: () => go(active + 1),
      ArrowUp: () => go(active - 1),
      Home: () => go(0),
      End: () => go(rows.length - 1),
      ArrowRight: () =>
        row && (row.open ? go(active + 1) : row.item.children.length && toggle(row.item)),
      ArrowLeft: () => row && (row.open ? toggle(row.item) : go(parent ?? 0)),
      Enter: () => row && (row.item.children.length ? toggle(row.item) : choose(store, row.item)),
    };
    const action = actions[event.key];
    if (!action) return;
    event.preventDefault();
    event.stopPropagation();
    action();
  };
  return (
    <section class="tx-panel" aria-label="Outline">
      <div class="tx-search">
        <input
          ref={input}
          type="search"
          placeholder="Search (/)"
          aria-label="Search ops by name, kind, scope, type or line"
          data-search
          value={query}
          onInput={(event) => {
            store.query.value = event.currentTarget.value;
            setActive(0);
          }}
          onKeyDown={(event) => {
            if (event.key === "Enter")
              go(active + (event.shiftKey ? -1 : searching && lit.size ? 1 : 0));
            if (event.key === "Escape") store.query.value = "";
            event.stopPropagation();
          }}
        />
        {searching && (
          <output aria-live="polite">
            {counted(rows.length, "match").replace("matchs", "matches")}
          </output>
        )}
      </div>
      <div
        ref={element}
        class="tx-tree"
        role="tree"
        aria-label="Scopes and ops"
        tabIndex={0}
        aria-activedescendant={rows[active] ? rowId(store, rows[active].item) : undefined}
        onKeyDown={keys}
      >
        <div style={{ height: `${rows.length * ROW}px` }}>
          {rows.slice(range.first, range.last).map((row, offset) => (
            <OutlineRow
              key={row.item.key}
              id={rowId(store, row.item)}
              row={row}
              top={(range.first + offset) * ROW}
              isLit={lit.has(row.item)}
              isActive={range.first + offset === active}
              press={() => go(range.first + offset)}
              toggle={() => toggle(row.item)}
            />
          ))}
        </div>
        {rows.length === 0 && (
          <p class="tx-empty">
            {searching
              ? "Nothing matches. Try a part of a name, `linear`, or a type, `f32[*,64]`."
              : "No ops."}
          </p>
        )}
      </div>
    </section>
  );
}

interface RowProps {
  id: string;
  row: Row;
  top: number;
  isLit: boolean;
  isActive: boolean;
  press: () => void;
  toggle: () => void;
}

function OutlineRow({ id, row, top, isLit, isActive, press, toggle }: RowProps) {
  const { item, depth, open } = row;
  const branch = item.children.length > 0;
  const colour = `var(--tx-op-${item.accent.replace("_", "-")}, var(--tx-border))`;
  const note = branch && item.kind !== "op" ? String(item.ops) : item.subtitle;
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the tree has the keys
    // biome-ignore lint/a11y/useFocusableInteractive: the tree has the focus, this row is named by it
    <div
      id={id}
      class={`tx-row${isLit ? " tx-lit" : ""}${isActive ? " tx-active" : ""}`}
      role="treeitem"
      aria-level={depth + 1}
      aria-selected={isLit}
      {...(branch ? { "aria-expanded": open } : {})}
      style={{ top: `${top}px`, paddingLeft: `${6 + depth * 14}px` }}
      title={capped(`${item.title} ${item.subtitle}`)}
      onClick={press}
    >
      <span
        class="tx-row-sign"
        aria-hidden="true"
        onClick={(event) => {
          if (!branch) return;
          event.stopPropagation();
          toggle();
        }}
      >
        {branch ? (open ? "▾" : "▸") : ""}
      </span>
      <span class="tx-row-dot" style={{ background: colour }} />
      <span class="tx-row-name">{capped(item.title, 200)}</span>
      <span class="tx-row-note">{capped(note, 120)}</span>
    </div>
  );
}

const ids = new WeakMap<Store, number>();
let lastId = 0;

function rowId(store: Store, item: Item): string {
  if (!ids.has(store)) ids.set(store, ++lastId);
  return `tx-${ids.get(store)}-${item.key.replace(/[^\w]/g, "-")}`;
}

function litItems(store: Store, itemOf: ReadonlyMap<number, Item>): Set<Item> {
  const items = new Set<Item>();
  for (const id of store.lit.value.nodes) {
    const item = itemOf.get(id);
    if (item) items.add(item);
  }
  return items;
}

function choose(store: Store, item: Item): void {
  if (item.node >= 0) store.select({ kind: "nodes", nodes: [item.node] }, "outline");
  else if (item.scope >= 0) store.select({ kind: "scope", scope: item.scope }, "outline");
}
