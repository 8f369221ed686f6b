/** Up to which size the program fits into some memory, and from which on another kind of op leads. */

import { useEffect, useState } from "preact/hooks";
import type { CostModel } from "../../cost";
import { capped, grouped } from "../../format";
import type { Store } from "../../store";

interface Props {
  store: Store;
  model: CostModel;
}

const GB = 1e9;
/** After a slider has come to rest. */
const REST_MS = 150;

export function Fits({ store, model }: Props) {
  const { symbols } = model.program.record;
  const [memory, setMemory] = useState(8);
  const [symbol, setSymbol] = useState(symbols.length - 1);
  const [largest, setLargest] = useState("");
  const [overtaking, setOvertaking] = useState("");
  const sizes = store.sizes.value;
  useEffect(() => {
    const timer = setTimeout(() => {
      setLargest(fitsUpTo(model, sizes, symbol, memory));
      setOvertaking(overtakes(model, sizes, symbol));
    }, REST_MS);
    return () => clearTimeout(timer);
  }, [model, sizes, symbol, memory]);
  if (symbols.length === 0) return null;
  return (
    <div class="tx-filters" data-testid="cost-fits">
      <label>
        Fits in{" "}
        <input
          type="number"
          class="tx-input tx-box"
          min={0.001}
          step="any"
          value={memory}
          onInput={(event) => {
            const next = event.currentTarget.valueAsNumber;
            if (next > 0) setMemory(next);
          }}
        />{" "}
        GB up to
      </label>
      <select
        class="tx-input"
        aria-label="Size that grows"
        value={symbol}
        onChange={(event) => setSymbol(Number(event.currentTarget.value))}
      >
        {symbols.map(({ name }, number) => (
          <option key={number} value={number}>
            {capped(name, 40)}
          </option>
        ))}
      </select>
      <b aria-live="polite">{largest}</b>
      {overtaking && (
        <p class="tx-lead" data-testid="cost-overtaking">
          {overtaking}
        </p>
      )}
    </div>
  );
}

function fitsUpTo(
  model: CostModel,
  sizes: readonly number[],
  symbol: number,
  memory: number,
): string {
  try {
    const largest = model.largestFitting(sizes, symbol, memory * GB);
    return largest === null ? "no size" : `= ${grouped(largest)}`;
  } catch {
    return "unknown"; // a formula without a value at some size
  }
}

/** `scaled_dot_product_attention does more FLOPs than linear from seq = 3,072 on.` */
function overtakes(model: CostModel, sizes: readonly number[], symbol: number): string {
  try {
    const next = model.nextOvertaking(sizes, symbol);
    const name = model.program.record.symbols[symbol]?.name ?? "";
    if (!next) return "";
    const [more, less] = [shortName(next.more), shortName(next.less)];
    return `${more} does more FLOPs than ${less} from ${capped(name, 40)} = ${grouped(next.at)} on.`;
  } catch {
    return "";
  }
}

function shortName(target: string): string {
  return capped(target.replace(/^aten\./, "").replace(/\.[^.]+$/, ""), 60);
}
