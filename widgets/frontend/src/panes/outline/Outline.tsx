/**
 * The Outline pane: modules and ops as a tree that keys and a screen reader can walk, and search.
 */

import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { type Forest, type Item, repeatsFrom } from "../../forest/items";
import { forestOf } from "../../forest/program_forest";
import type { NodeId, Program } from "../../program";
import { search } from "../../search";
import type { Store } from "../../store";
import { Empty } from "../parts/parts";
import { isDrawn, useVirtual } from "../parts/virtual";
import { OutlineRow, rowId } from "./OutlineRow";
import {
  above,
  foundRows,
  itemsFound,
  itemsOf,
  nodesBelow,
  openTo,
  outlineRows,
  placeOf,
  type Row,
} from "./outline_rows";
import { SearchBar } from "./SearchBar";
import { treeKeys } from "./tree_keys";

const ROW = 22;
/** One list, so that a search by words does not draw the graph again. */
const NOTHING: readonly NodeId[] = [];
/** A larger selection, made elsewhere, opens nothing here. */
const FEW = 20;

interface OutlineProps {
  store: Store;
  program: Program;
  /** Whether only the search box is shown. */
  folded?: boolean;
  /** Folds the tree into the search box, or keeps it unfolded; null if it stays. */
  fold?: ((folds: boolean) => void) | null;
}

export function Outline({ store, program, folded = false, fold = null }: OutlineProps) {
  const housekeeping = store.housekeeping.value;
  const forest = forestOf(program, { housekeeping, parameters: false });
  const [open, setOpen] = useState<ReadonlySet<string>>(new Set());
  const [active, setActive] = useState(-1);
  const query = store.query.value;
  const searching = query.trim() !== "";
  const told = useMemo(() => search(program, query), [program, query]);
  const found = useMemo(() => itemsFound(forest, told), [forest, told]);
  const rows = useMemo(
    () => (searching ? foundRows(found, open) : outlineRows(forest, open)),
    [forest, open, searching, found],
  );
  const { element, range, scrollTo } = useVirtual(ROW, rows.length, !folded);
  const lit = litItems(store, forest);
  const holding = useMemo(() => above(lit), [lit]);
  const wanted = useRef<Item | null>(null);
  const move = (index: number): void => {
    setActive(index);
    scrollTo(index);
  };

  useEffect(() => {
    const row = wanted.current ? rows.findIndex(({ item }) => item === wanted.current) : -1;
    wanted.current = null;
    if (row < 0) return;
    move(row);
  });
  // After the above, which finds the row once its parents are open.
  const reveal = (): void => {
    const [first] = lit;
    if (!first || lit.size > FEW) return;
    wanted.current = first;
    setOpen((now) => openTo(first, now));
  };
  useEffect(() => {
    if (store.origin.peek() !== "outline") reveal();
  }, [store.selection.value, forest, folded]);
  useEffect(() => {
    if (!searching) reveal(); // what a search found is shown in its place
  }, [searching]);

  useEffect(() => {
    store.found.value = told.asked ? told.nodes : NOTHING;
    return () => {
      store.found.value = NOTHING;
    };
  }, [told]);

  const go = (index: number): void => {
    const at = Math.min(Math.max(index, 0), rows.length - 1);
    const row = rows[at];
    if (!row) return;
    move(at);
    choose(store, row.item);
  };
  const toggle = (item: Item): void => {
    const next = new Set(open);
    if (!next.delete(item.key)) next.add(item.key);
    setOpen(next);
  };
  const results = useMemo(() => {
    const found: number[] = [];
    if (searching) for (const [at, row] of rows.entries()) if (row.depth === 0) found.push(at);
    return found;
  }, [rows, searching]);
  const onKeyDown = useRef(treeKeys());
  return (
    <section
      class={`tx-panel tx-outline${folded ? " tx-outline-folded" : ""}`}
      aria-label="Outline"
      data-pane
    >
      <SearchBar
        program={program}
        folded={folded}
        fold={fold}
        query={query}
        problem={told.problem ? `${told.problem.reason} (column ${told.problem.column})` : ""}
        change={(text) => {
          store.query.value = text;
          setActive(-1);
        }}
        results={results}
        at={results.indexOf(active)}
        go={go}
        selectAll={() => {
          const nodes = told.asked ? told.nodes : found.flatMap(nodesBelow);
          store.select({ kind: "nodes", nodes }, "outline");
        }}
      />
      {folded ? null : rows.length === 0 ? (
        // Outside the tree element: screen readers report a tree without items as an error.
        <div class="tx-tree">
          <NoRows searching={searching} />
        </div>
      ) : (
        <div
          ref={element}
          class="tx-tree"
          role="tree"
          aria-label="Modules and ops"
          tabIndex={0}
          data-focus
          aria-activedescendant={
            rows[active] && isDrawn(range, active) ? rowId(store, rows[active].item) : undefined
          }
          onFocus={() => {
            // A screen reader speaks the row that has the keys, and leaves them to the tree.
            if (active < 0) move(0);
          }}
          onKeyDown={(event) => onKeyDown.current(event, { rows, active, go, toggle })}
          onPointerLeave={() => {
            store.hovered.value = null;
          }}
        >
          <div style={{ height: `${rows.length * ROW}px` }}>
            {rows.slice(range.first, range.last).map((row, offset) => (
              <OutlineRow
                key={row.item.key}
                store={store}
                forest={forest}
                row={row}
                top={(range.first + offset) * ROW}
                place={searching && row.depth === 0 ? placeOf(row.item) : ""}
                repeats={repeatsFrom(row.item)}
                isLit={lit.has(row.item)}
                holdsLit={!row.open && holding.has(row.item)}
                isActive={range.first + offset === active}
                press={() => go(range.first + offset)}
                toggle={() => toggle(row.item)}
              />
            ))}
          </div>
        </div>
      )}
    </section>
  );
}

function NoRows({ searching }: { searching: boolean }) {
  if (!searching) return <Empty>This program has no ops.</Empty>;
  return (
    <Empty>
      Nothing matches. Try part of a name (<code>linear</code>), a module (<code>layer.3</code>), a
      type (<code>f32[*, 64]</code>), a line (<code>model.py:12</code>) or a query (
      <code>op:linear & rank &gt; 2</code>).
    </Empty>
  );
}

/** The items of what is selected. A selected module is its own item, not all that is in it. */
function litItems(store: Store, forest: Forest): ReadonlySet<Item> {
  const selection = store.selection.value;
  const { nodes } = store.lit.value;
  return useMemo(() => {
    if (selection.kind === "scope") return new Set(forest.ofScopes([selection.scope]));
    return itemsOf(forest, nodes);
  }, [selection, nodes, forest]);
}

function choose(store: Store, item: Row["item"]): void {
  if (item.node >= 0) store.select({ kind: "nodes", nodes: [item.node] }, "outline");
  else if (item.scope >= 0) store.select({ kind: "scope", scope: item.scope }, "outline");
  else store.select({ kind: "nodes", nodes: nodesBelow(item) }, "outline");
}
