/** A box for one whole number. Anything but a size is rejected, and gone when the box is left. */

import { capped } from "../../format";

interface SizeBoxProps {
  value: number;
  label: string;
  title?: string;
  /** Whether a rule about it is broken. */
  bad: boolean;
  /** Lower numbers are not taken. */
  least?: number;
  testId: string;
  put: (size: number) => void;
}

export function SizeBox({ value, label, title, bad, least, testId, put }: SizeBoxProps) {
  return (
    <input
      type="number"
      class="tx-input tx-box"
      style={{ "--tx-digits": String(value).length }}
      min={least}
      step={1}
      value={value}
      aria-label={capped(label, 200)}
      aria-invalid={bad}
      title={capped(title ?? label)}
      data-testid={testId}
      onInput={(event) => {
        const size = event.currentTarget.valueAsNumber;
        if (Number.isSafeInteger(size) && size >= (least ?? size)) put(size);
      }}
      onBlur={(event) => {
        event.currentTarget.value = String(value);
      }}
    />
  );
}
