/** A unified diff, its lines coloured by what they do. Text is only ever set as text. */

import { capped } from "../../format";
import { CopyButton } from "./CopyButton";
import { LongText } from "./parts";
import { SeenText } from "./SeenText";

const MOST_LINES = 2000;

export function Diff({ text }: { text: string }) {
  const lines = text.split("\n");
  return (
    <div class="tx-copy-home">
      <CopyButton text={() => text} />
      <LongText name="Changed lines" kind="tx-diff">
        {lines.slice(0, MOST_LINES).map((line, index) => (
          <span key={index} class={`tx-diff-line ${kindOf(line)}`}>
            <SeenText text={capped(line, 1000)} />
            {"\n"}
          </span>
        ))}
        {lines.length > MOST_LINES && `${lines.length - MOST_LINES} more lines`}
      </LongText>
    </div>
  );
}

/** Pure: the class of a line of a unified diff. */
export function kindOf(line: string): string {
  if (line.startsWith("+++") || line.startsWith("---")) return "tx-diff-file";
  if (line.startsWith("@@")) return "tx-diff-place";
  if (line.startsWith("+")) return "tx-diff-added";
  if (line.startsWith("-")) return "tx-diff-removed";
  return "";
}
