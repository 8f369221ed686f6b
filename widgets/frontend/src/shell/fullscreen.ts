/** Full screen by the browser; where a host forbids it, on top of everything else on the page. */

import type { RefObject } from "preact";
import { useEffect, useState } from "preact/hooks";

/** Whether the widget around `element` fills the screen, and how to switch. */
export function useFullScreen(element: RefObject<HTMLElement | null>): [boolean, () => void] {
  const [full, setFull] = useState(false);
  useEffect(() => {
    const root = element.current?.closest<HTMLElement>(".tx-root");
    if (!full || !root) return;
    root.classList.add("tx-full");
    const leave = enter(root, () => setFull(false));
    return () => {
      root.classList.remove("tx-full");
      leave();
    };
  }, [full, element]);
  return [full, () => setFull(!full)];
}

/** Returns how to leave. `left` is called when the browser's own key left it. */
function enter(root: HTMLElement, left: () => void): () => void {
  let state: "asked" | "screen" | "page" | "over" = "asked";
  const onChange = (): void => {
    if (state === "screen" && !document.fullscreenElement) left();
  };
  document.addEventListener("fullscreenchange", onChange);
  const asked = root.requestFullscreen ? root.requestFullscreen() : Promise.reject();
  asked.then(
    () => {
      if (state === "over") void document.exitFullscreen();
      else state = "screen";
    },
    () => {
      if (state === "over") return;
      state = "page";
      raise(root);
    },
  );
  return () => {
    document.removeEventListener("fullscreenchange", onChange);
    if (state === "screen" && document.fullscreenElement) void document.exitFullscreen();
    if (state === "page") lower(root);
    state = "over";
  };
}

/** A popover leaves the boxes that a notebook keeps its outputs in; `position: fixed` would not. */
function raise(root: HTMLElement): void {
  if (!("showPopover" in root)) return;
  root.popover = "manual";
  root.showPopover();
}

function lower(root: HTMLElement): void {
  if (!root.hasAttribute("popover")) return;
  root.hidePopover();
  root.removeAttribute("popover");
}
