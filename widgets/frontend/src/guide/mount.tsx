/** Mounts the buttons below a guide's steps. */

import { signal } from "@preact/signals";
import { render } from "preact";
import { AnywidgetHost } from "../anywidget_host";
import { reasonOf } from "../format";
import type { Model } from "../jupyter_types";
import { keepKeys } from "../keep_keys";
import type { GuideAsks } from "../messages.gen";
import type { Working } from "../store";
import { type Choice, Choices } from "./Choices";

class GuideHost extends AnywidgetHost {
  get choices(): readonly Choice[] {
    return (this.model.get("choices") as Choice[]) ?? [];
  }

  take(number: number): Promise<GuideAsks["take"]["reply"]> {
    return this.send("take", { number });
  }

  onChoices(callback: () => void): () => void {
    this.model.on("change:choices", callback);
    return () => this.model.off("change:choices", callback);
  }
}

/** Returns how to take it away. */
export function mountGuide(model: Model, el: HTMLElement): () => void {
  const host = new GuideHost(model);
  const choices = signal(host.choices);
  const working = signal<Working | null>(null);
  const problem = signal("");
  const stop = host.onChoices(() => {
    choices.value = host.choices;
  });
  host.onProgress((progress) => {
    const now = working.peek();
    if (now) working.value = { ...now, progress };
  });
  const take = async (number: number, { title }: Choice): Promise<void> => {
    if (working.peek()) return;
    working.value = { what: title, since: performance.now(), progress: null };
    problem.value = "";
    try {
      await host.take(number);
    } catch (error) {
      problem.value = reasonOf(error);
    } finally {
      working.value = null;
    }
  };
  const root = document.createElement("div");
  root.className = "tx-root tx-guide-root";
  root.addEventListener("focusin", keepKeys);
  el.append(root);
  render(
    <Choices host={host} choices={choices} working={working} problem={problem} take={take} />,
    root,
  );
  return () => {
    stop();
    render(null, root);
    host.dispose();
    root.remove();
  };
}
