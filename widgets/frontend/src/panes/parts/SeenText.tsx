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
            title="An invisible character, or one that reverses the text"
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
