/** One row of the outline. */

import { type Badge, gathered, noteOf } from "../../decorations/decoration";
import { viewId } from "../../dom_id";
import type { Forest, Item } from "../../forest/items";
import { capped, counted, shortPath } from "../../format";
import type { Store } from "../../store";
import type { Row } from "./outline_rows";

const INDENT = 13;
const MOST_NOTE = 200;
/** Ends the name of an op that is torch's own: `linear_3`, which already says the operator. */
const NUMBERED = /_\d+$/;

interface RowProps {
  store: Store;
  forest: Forest;
  row: Row;
  /** In CSS pixels from the top of the list. */
  top: number;
  /** The place of a result. */
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
  const { store, forest, row, top, place, repeats, isLit, holdsLit, isActive, press, toggle } =
    props;
  const { item, depth, open } = row;
  const branch = item.children.length > 0;
  const look = lookOf(store, forest, row);
  const ops = branch && item.kind !== "op" && counted(item.ops, "op");
  const same = repeats > 1 && `${repeats} identical in a row`;
  const notes = [same, ops, ...look.notes].filter(Boolean);
  const [name, kind] = namesOf(item);
  const tip = capped([place, name, kind, ...notes].filter(Boolean).join(" · "));
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
      onClick={press}
      onPointerEnter={() => {
        store.hovered.value = item.node >= 0 ? item.node : null;
      }}
    >
      <Sign open={open} branch={branch} toggle={toggle} />
      <span class="tx-row-dot" style={{ "--tx-dot": look.colour }} />
      {/* Not the row's own title, which is heard after its name, and says the same. */}
      {place && (
        <span class="tx-row-place" title={tip}>
          {capped(shortPath(place), 60)} ·
        </span>
      )}
      <span class="tx-row-name" title={tip}>
        {capped(name, 200)}
      </span>
      {same && (
        <span class="tx-row-repeats" title={same} aria-hidden="true">
          ×{repeats}
        </span>
      )}
      <span class="tx-row-note" title={tip}>
        {kind !== name.replace(NUMBERED, "") && capped(kind, 200)}
      </span>
      {look.badges.map(({ sign, colour }) => (
        <span key={sign} class="tx-badge-sign" style={{ background: colour }} aria-hidden="true">
          {capped(sign, 2)}
        </span>
      ))}
      {ops && (
        <span class="tx-row-count" title={ops} aria-hidden="true">
          {counted(item.ops, "op")}
        </span>
      )}
      {notes.length > 0 && <span class="tx-hidden">{capped(notes.join(", "))}</span>}
    </div>
  );
}

/** An item's name in the program, and its kind: a module's class, an op's operator. */
function namesOf({ kind, subtitle, title }: Item): [name: string, kind: string] {
  return kind === "op" && subtitle ? [subtitle, title] : [title, subtitle];
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

/** How the decorations have a row look: as the graph has its box. */
function lookOf(store: Store, forest: Forest, { item, open }: Row) {
  const look = { colour: colourOf(item), badges: [] as Badge[], notes: [] as string[] };
  const colouring = store.colouring.value;
  for (const each of store.decorations.value) {
    const mark = gathered(each, forest).get(item);
    if (!mark) continue;
    look.notes.push(capped(noteOf(each, mark), MOST_NOTE));
    if (each.colours && (open || each !== colouring)) continue;
    if (open && !mark.own) continue;
    if (mark.badge) look.badges.push(mark.badge);
    if (mark.colour) look.colour = mark.colour;
  }
  if (colouring?.measure) {
    const amount = gathered(colouring, forest).get(item)?.amount ?? 0;
    const share = Math.min(amount / (store.most.value || 1), 1);
    const part = Math.round(100 * Math.sqrt(share));
    look.colour = `color-mix(in srgb, ${colouring.measure.colour} ${part}%, var(--tx-border))`;
  }
  return look;
}

const colourOf = (item: Item): string =>
  `var(--tx-op-${item.accent.replace("_", "-")}, var(--tx-edge))`;

/** An id that no other view on the page has. */
export function rowId(store: Store, item: Item): string {
  return `${viewId(store)}-${item.key.replace(/[^\w]/g, "-")}`;
}
