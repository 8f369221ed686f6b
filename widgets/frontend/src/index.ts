/** What the loader imports. */

export function mount({ el }: { el: HTMLElement }): () => void {
  el.textContent = "Export Explorer";
  return () => el.replaceChildren();
}
