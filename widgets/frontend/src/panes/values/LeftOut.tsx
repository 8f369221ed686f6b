/** Which ops have no values here, and why. */

import { More, Prose } from "../parts/parts";

const FEW = 3;

export function LeftOut({ sentences }: { sentences: readonly string[] }) {
  if (sentences.length === 0) return null;
  return (
    <ul class="tx-values-left-out" data-testid="left-out">
      <More items={sentences} few={FEW}>
        {(sentence) => (
          <li key={sentence}>
            <Prose text={sentence} />
          </li>
        )}
      </More>
    </ul>
  );
}
