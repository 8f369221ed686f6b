/** An element to render into, a fresh one for each test of a file that calls `freshPage`. */

import { render } from "preact";
import { afterEach, beforeEach } from "vitest";

export let page: HTMLElement;

export function freshPage(): void {
  beforeEach(() => {
    page = document.createElement("div");
    document.body.append(page);
  });
  afterEach(() => {
    render(null, page);
    page.remove();
  });
}

/** The element that a test knows by its id. */
export function at(id: string): HTMLInputElement {
  const found = page.querySelector(`[data-testid="${id}"]`);
  if (!found) throw new Error(`no ${id}`);
  return found as HTMLInputElement;
}
