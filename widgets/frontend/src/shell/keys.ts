/** The keys that work in every pane. */

import { stepDifference } from "../compare/stepping";
import type { Store } from "../store";

/** `?` or Ctrl+K lists all commands, `/` searches, Escape clears and then leaves, F6 goes from pane to pane, N from difference to difference; brackets go back and forward. */
export function onKey(event: KeyboardEvent, store: Store, app: HTMLElement | null): void {
  if (!app || event.defaultPrevented) return;
  if (event.key === "Escape") {
    if (store.selection.peek().kind === "none") leave(app);
    store.clear();
  } else if (isForCommands(event)) store.commands.value = true;
  else if (event.key === "/" && !isTyping(event)) {
    if (!focusSearch(app)) return;
  } else if (event.key.toLowerCase() === "n" && store.comparison.peek() && !isTyping(event)) {
    stepDifference(store, event.shiftKey ? -1 : 1);
  } else if (event.key === "[" && !isTyping(event)) store.back();
  else if (event.key === "]" && !isTyping(event)) store.forward();
  else if (event.key === "F6") focusPane(app, event.shiftKey ? -1 : 1);
  else return;
  event.preventDefault();
  event.stopPropagation(); // a notebook has its own keys
}

/** `?`, or Ctrl+K, which also works in text fields. */
const isForCommands = (event: KeyboardEvent): boolean =>
  event.ctrlKey || event.metaKey
    ? event.key.toLowerCase() === "k" && !event.shiftKey && !event.altKey
    : event.key === "?" && !isTyping(event);

/** Moves the focus to the view's container, such as a notebook's cell, if it accepts focus. */
function leave(app: HTMLElement): void {
  const root = app.getRootNode();
  const outside = app.parentElement?.closest<HTMLElement>("[tabindex]");
  const host = root instanceof ShadowRoot ? root.host.closest<HTMLElement>("[tabindex]") : null;
  (outside ?? host)?.focus();
}

/** Whether there was a search box to go to. */
function focusSearch(app: HTMLElement): boolean {
  const search = app.querySelector<HTMLInputElement>("[data-search]");
  search?.focus();
  search?.select();
  return search !== null;
}

/** Whether a key goes into a field. */
export const isTyping = (event: KeyboardEvent): boolean =>
  ["INPUT", "TEXTAREA", "SELECT"].includes((event.target as Element).tagName);

/** Moves the focus to the next pane, or the one before: to what walks along it, else what comes first. */
function focusPane(app: HTMLElement, step: 1 | -1): void {
  const panes = [...app.querySelectorAll<HTMLElement>("[data-pane]")];
  if (panes.length === 0) return;
  const active = (app.getRootNode() as Document | ShadowRoot).activeElement;
  const at = panes.findIndex((pane) => pane.contains(active));
  const next = panes[(at + step + panes.length) % panes.length];
  if (!next) return;
  const first =
    next.querySelector<HTMLElement>("[data-focus]") ??
    next.querySelector<HTMLElement>(
      "input, select, button:not(:disabled), summary, [tabindex='0']",
    );
  if (!first) next.tabIndex = -1; // else the keys would stay at a pane of which nothing can have them
  (first ?? next).focus();
}
