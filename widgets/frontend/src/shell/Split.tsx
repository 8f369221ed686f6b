/** A bar between two panes that the pointer and the arrow keys move. */

import { useRef } from "preact/hooks";

interface SplitProps {
  label: string;
  /** `row`: between panes side by side; `column`: between panes one above the other. */
  along: "row" | "column";
  /** Size of the pane it sizes, in CSS pixels. */
  value: number;
  least: number;
  most: number;
  /** 1 when that pane comes before the bar, -1 when after. */
  side: 1 | -1;
  change: (size: number) => void;
  /** On a double click: back to the size it had at first. */
  reset: () => void;
}

const STEP = 24;
const KEYS: { [key: string]: { along: "row" | "column"; step: number } } = {
  ArrowLeft: { along: "row", step: -STEP },
  ArrowRight: { along: "row", step: STEP },
  ArrowUp: { along: "column", step: -STEP },
  ArrowDown: { along: "column", step: STEP },
};

export function Split({ label, along, value, least, most, side, change, reset }: SplitProps) {
  const from = useRef<{ at: number; value: number } | null>(null);
  const set = (size: number): void => change(Math.max(Math.min(size, most), least));
  const position = (event: PointerEvent): number =>
    along === "row" ? event.clientX : event.clientY;
  const onKeyDown = (event: KeyboardEvent): void => {
    const key = KEYS[event.key];
    if (event.key === "Home") set(least);
    else if (event.key === "End") set(most);
    else if (key?.along === along) set(value + side * key.step);
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    // biome-ignore lint/a11y/useSemanticElements: an <hr> cannot be dragged
    <div
      class={`tx-split tx-split-${along}`}
      role="separator"
      aria-orientation={along === "row" ? "vertical" : "horizontal"}
      aria-label={label}
      aria-valuenow={Math.round(value)}
      aria-valuemin={Math.round(least)}
      aria-valuemax={Math.round(most)}
      tabIndex={0}
      onPointerDown={(event) => {
        event.currentTarget.setPointerCapture(event.pointerId);
        from.current = { at: position(event), value };
      }}
      onPointerMove={(event) => {
        if (from.current) set(from.current.value + side * (position(event) - from.current.at));
      }}
      onPointerUp={() => {
        from.current = null;
      }}
      onPointerCancel={() => {
        from.current = null;
      }}
      onDblClick={reset}
      onKeyDown={onKeyDown}
    />
  );
}
