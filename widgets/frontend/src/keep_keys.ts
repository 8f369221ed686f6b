/**
 * Jupyter's own keys stop where ours begin. It looks for the mark from the focused element outwards,
 * and tries each element before it looks at the next, so the focused one itself must carry it.
 */
export function keepKeys(event: FocusEvent): void {
  if (event.target instanceof HTMLElement) event.target.dataset.lmSuppressShortcuts = "true";
}
