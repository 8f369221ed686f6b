/** A small histogram. */

const WIDTH = 56;
const HEIGHT = 16;

/** @param bars percent of the elements, per bin */
export function Bars({ bars, wide = 1 }: { bars: readonly number[]; wide?: number }) {
  const most = Math.max(...bars, 1);
  const step = WIDTH / Math.max(bars.length, 1);
  return (
    <svg
      class="tx-bars"
      width={WIDTH * wide}
      height={HEIGHT * wide}
      viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
      role="img"
      aria-label={`Histogram: ${bars.join(", ")} percent`}
    >
      {bars.map((bar, at) => (
        <rect
          key={at}
          x={at * step}
          y={HEIGHT - (HEIGHT * bar) / most}
          width={step - 0.5}
          height={(HEIGHT * bar) / most}
        />
      ))}
    </svg>
  );
}
