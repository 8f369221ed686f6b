/** Copies a text, even if the page may not use the clipboard itself. */

import { useState } from "preact/hooks";

const SAID_MS = 1500;

interface Props {
  text: () => string;
  /** The button's name; next to other buttons it names what it copies. */
  label?: string;
  /** Its text, if shorter. */
  face?: string;
}

export function CopyButton({ text, label = "Copy", face = label }: Props) {
  const [said, say] = useState("");
  const copy = async (event: MouseEvent): Promise<void> => {
    const button = event.currentTarget as HTMLElement;
    say((await copyText(text(), button)) ? "Copied" : "Not allowed here");
    setTimeout(() => say(""), SAID_MS);
  };
  return (
    <>
      {/* A button that has the focus is not read again when its name changes. */}
      <span class="tx-hidden" aria-live="polite">
        {said}
      </span>
      <button
        type="button"
        class="tx-button tx-copy"
        title={face === label ? undefined : label}
        aria-label={face === label ? undefined : said || label}
        onClick={(event) => void copy(event)}
      >
        {said || face}
      </button>
    </>
  );
}

/** Puts a text on the clipboard, if needed through an element. Returns whether it worked. */
export async function copyText(text: string, beside: HTMLElement): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return copiedBySelection(text, beside); // no permission, or a page without https
  }
}

function copiedBySelection(text: string, beside: HTMLElement): boolean {
  const area = document.createElement("textarea");
  area.className = "tx-hidden";
  area.value = text;
  beside.after(area);
  area.select();
  const worked = document.execCommand("copy");
  area.remove();
  beside.focus();
  return worked;
}
