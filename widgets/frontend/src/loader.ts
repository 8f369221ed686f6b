/** What an anywidget loads first. */

export default {
  render({ el }: { el: HTMLElement }): void {
    el.textContent = "Export Explorer";
  },
};
