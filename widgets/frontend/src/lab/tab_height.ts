/**
 * Makes the views in a tab as high as the tab. Returns how to stop.
 *
 * @param home an element around the views
 * @param besides pixels of the tab's height that other things take
 */
export function asHighAsTab(tab: HTMLElement, home: HTMLElement, besides: number): () => void {
  const observer = new ResizeObserver(() => {
    home.style.setProperty("--tx-height", `${Math.max(tab.clientHeight - besides, 300)}px`);
  });
  observer.observe(tab);
  return () => observer.disconnect();
}
