/**
 * Keeps Jupyter's keyboard shortcuts from firing while the focus is in a view. Jupyter looks for
 * the mark from the focused element outwards and handles the key at each step, so the focused
 * element itself must carry it.
 */
export function keepKeys(event: FocusEvent): void {
  if (event.target instanceof HTMLElement) event.target.dataset.lmSuppressShortcuts = "true";
}
