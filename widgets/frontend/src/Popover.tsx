/**
 * A button with a panel that it opens below it. Escape, a press outside, and the focus moving on
 * close it.
 */

import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";

interface PopoverProps {
  /** The panel's name, and the button's where its face is a sign. */
  name: string;
  face: string;
  /** The part of the button that stays if the view is narrow; by default all of it. */
  core?: string;
  /** Or a function that makes it, given how to close the panel. */
  children: ComponentChildren | ((close: () => void) => ComponentChildren);
}

/** A face of words is what a screen reader says, with the numbers in it. */
const HAS_WORDS = /\p{L}{2,}/u;

export function Popover({ name, face, core = face, children }: PopoverProps) {
  const [open, setOpen] = useState(false);
  const element = useRef<HTMLDivElement>(null);
  const button = useRef<HTMLButtonElement>(null);
  useEffect(() => {
    if (!open) return;
    const home = element.current?.getRootNode();
    const onPress = (event: Event): void => {
      if (!element.current?.contains(event.target as Node)) setOpen(false);
    };
    // A button in the panel that is disabled while it works leaves the focus nowhere.
    const onEscape = (event: KeyboardEvent): void => {
      const nowhere = document.activeElement === document.body;
      if (event.key === "Escape" && nowhere) setOpen(false);
    };
    home?.addEventListener("pointerdown", onPress);
    document.addEventListener("keydown", onEscape);
    return () => {
      home?.removeEventListener("pointerdown", onPress);
      document.removeEventListener("keydown", onEscape);
    };
  }, [open]);
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.key !== "Escape" || !open) return;
    event.preventDefault();
    event.stopPropagation();
    setOpen(false);
    button.current?.focus();
  };
  const onFocusOut = (event: FocusEvent): void => {
    const next = event.relatedTarget;
    if (next instanceof Node && !element.current?.contains(next)) setOpen(false);
  };
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: Escape, from wherever inside the focus is
    <div ref={element} class="tx-popover-home" onKeyDown={onKeyDown} onFocusOut={onFocusOut}>
      <button
        ref={button}
        type="button"
        class="tx-button"
        title={name}
        aria-label={labelOf(face, name)}
        aria-expanded={open}
        onClick={() => setOpen(!open)}
      >
        <Face face={face} core={core} />
      </button>
      {open && (
        <section class="tx-popover" aria-label={name}>
          {typeof children === "function" ? children(() => setOpen(false)) : children}
        </section>
      )}
    </div>
  );
}

/** What is said of the button, with what is seen of it. */
function labelOf(face: string, name: string): string | undefined {
  if (HAS_WORDS.test(face)) return undefined;
  return face.startsWith("+") ? `${face} ${name}` : name;
}

function Face({ face, core }: { face: string; core: string }) {
  const [before, after] = face.split(core, 2);
  return (
    <span>
      {before && <span class="tx-face-more">{before}</span>}
      {core}
      {after && <span class="tx-face-more">{after}</span>}
    </span>
  );
}
