/** A text in which characters that are not seen, or turn its direction, are shown by their code. */

import { unseenParts } from "../../unseen";

export function SeenText({ text }: { text: string }) {
  const parts = unseenParts(text);
  if (!parts.some((part) => part.unseen)) return <>{text}</>;
  return (
    <>
      {parts.map((part, index) =>
        part.unseen ? (
          <span
            key={index}
            class="tx-unseen"
            title="A character that is not seen, or turns the text"
          >
            {part.text}
          </span>
        ) : (
          part.text
        ),
      )}
    </>
  );
}
