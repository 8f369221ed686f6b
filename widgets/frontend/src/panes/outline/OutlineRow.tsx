/** One row of the outline. */

import type { Item } from "../../forest/items";
import { capped } from "../../format";
import type { Store } from "../../store";
import type { Row } from "./outline_rows";

const INDENT = 13;

interface RowProps {
  store: Store;
  row: Row;
  /** In CSS pixels from the top of the list. */
  top: number;
  /** Of a result, where it stands. */
  place: string;
  /** How many modules of the same structure begin here. */
  repeats: number;
  isLit: boolean;
  /** Whether something selected is inside, and closed away. */
  holdsLit: boolean;
  isActive: boolean;
  press: () => void;
  toggle: () => void;
}

export function OutlineRow(props: RowProps) {
  const { store, row, top, place, repeats, isLit, holdsLit, isActive, press, toggle } = props;
  const { item, depth, open } = row;
  const branch = item.children.length > 0;
  const classes = ["tx-row"];
  if (isLit) classes.push("tx-lit");
  if (holdsLit) classes.push("tx-holds");
  if (isActive) classes.push("tx-active");
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the tree has the keys
    // biome-ignore lint/a11y/useFocusableInteractive: the tree has the focus, this row is named by it
    <div
      id={rowId(store, item)}
      class={classes.join(" ")}
      role="treeitem"
      aria-level={depth + 1}
      aria-selected={isLit}
      {...(branch ? { "aria-expanded": open } : {})}
      style={{ top: `${top}px`, paddingLeft: `${6 + depth * INDENT}px` }}
      title={capped([place, item.title, item.subtitle].filter(Boolean).join(" · "))}
      onClick={press}
      onPointerEnter={() => {
        store.hovered.value = item.node >= 0 ? item.node : null;
      }}
    >
      <Sign open={open} branch={branch} toggle={toggle} />
      <span class="tx-row-dot" style={{ background: colourOf(item) }} />
      <span class="tx-row-name">{capped(item.title, 200)}</span>
      {repeats > 1 && (
        <span class="tx-row-repeats" title={`${repeats} identical in a row`}>
          ×{repeats}
        </span>
      )}
      <span class={place ? "tx-row-note tx-row-place" : "tx-row-note"}>
        <bdi>{capped(place || item.subtitle, 200)}</bdi>
      </span>
      {branch && item.kind !== "op" && (
        <span class="tx-row-count" title={`${item.ops} ops`}>
          {item.ops}
        </span>
      )}
    </div>
  );
}

function Sign({ open, branch, toggle }: { open: boolean; branch: boolean; toggle: () => void }) {
  return (
    // A target for the pointer only: the tree has the keys.
    <span
      class="tx-row-sign"
      aria-hidden="true"
      onClick={(event) => {
        if (!branch) return;
        event.stopPropagation();
        toggle();
      }}
    >
      {branch && (open ? "▾" : "▸")}
    </span>
  );
}

const colourOf = (item: Item): string =>
  `var(--tx-op-${item.accent.replace("_", "-")}, var(--tx-edge))`;

const numbers = new WeakMap<Store, number>();
let last = 0;

/** An id that no other view on the page has. */
export function rowId(store: Store, item: Item): string {
  let number = numbers.get(store);
  if (number === undefined) {
    last += 1;
    number = last;
    numbers.set(store, number);
  }
  return `tx-${number}-${item.key.replace(/[^\w]/g, "-")}`;
}
