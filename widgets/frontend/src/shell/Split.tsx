/** A bar between two panes that drags and keys move. */

interface SplitProps {
  label: string;
  /** Width of the pane it sizes, in CSS pixels. */
  value: number;
  least: number;
  most: number;
  /** 1 when the pane is left of the bar, -1 when right. */
  side: 1 | -1;
  change: (width: number) => void;
}

const STEP = 24;

export function Split({ label, value, least, most, side, change }: SplitProps) {
  const set = (width: number): void => change(Math.min(Math.max(width, least), most));
  let from: { x: number; value: number } | null = null;
  return (
    // biome-ignore lint/a11y/useSemanticElements: an <hr> cannot be dragged
    <div
      class="tx-split"
      role="separator"
      aria-orientation="vertical"
      aria-label={label}
      aria-valuenow={Math.round(value)}
      aria-valuemin={least}
      aria-valuemax={Math.round(most)}
      tabIndex={0}
      onPointerDown={(event) => {
        event.currentTarget.setPointerCapture(event.pointerId);
        from = { x: event.clientX, value };
      }}
      onPointerMove={(event) => from && set(from.value + side * (event.clientX - from.x))}
      onPointerUp={() => (from = null)}
      onKeyDown={(event) => {
        if (event.key !== "ArrowLeft" && event.key !== "ArrowRight") return;
        event.preventDefault();
        event.stopPropagation();
        set(value + side * (event.key === "ArrowRight" ? STEP : -STEP));
      }}
    />
  );
}
