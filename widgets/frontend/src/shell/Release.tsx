/** Whether the program can be shipped: a line of five answers, each a way to its pane. */

import { capped } from "../format";
import type { Release as Verdict } from "../messages.gen";
import type { Store } from "../store";
import type { Tab } from "../view_state";

const PANES: { [name: string]: Tab } = {
  findings: "findings",
  verification: "guarantees",
  sizes: "shapes",
  runs: "runs",
  values: "values",
};
const MARKS = { good: "✓", open: "?", bad: "✗", none: "–" } as const;
const WORDS = { ready: "Ready to ship", open: "Still open", "not ready": "Not ready to ship" };
const SPOKEN = { good: "good", open: "open", bad: "wrong", none: "nothing to check" } as const;

export function Release({ store }: { store: Store }) {
  const release = store.release.value;
  const failed = store.program.value?.record.outcome === "failed";
  if (!release || failed || store.host.layout !== "all") return null;
  return (
    <p class="tx-release" data-testid="release">
      <span class={`tx-release-${release.verdict.replace(" ", "-")}`}>
        {WORDS[release.verdict]}
      </span>
      {release.items.map((item) => (
        <Item key={item.name} store={store} item={item} />
      ))}
    </p>
  );
}

function Item({ store, item }: { store: Store; item: Verdict["items"][number] }) {
  const pane = PANES[item.name];
  const wayOn = item.command ? ` In Python: ${capped(item.command, 200)}` : "";
  const sentence = `${item.name}: ${SPOKEN[item.state]}. ${capped(item.sentence, 300)}${wayOn}`;
  const face = (
    <>
      <span class={`tx-release-${item.state}`} aria-hidden="true">
        {MARKS[item.state]}
      </span>{" "}
      {item.name}
    </>
  );
  if (!pane) {
    return (
      <span title={sentence}>
        {face}
        <span class="tx-hidden">: {SPOKEN[item.state]}</span>
      </span>
    );
  }
  return (
    <button
      type="button"
      class="tx-more"
      title={sentence}
      aria-label={sentence}
      onClick={() => store.open(pane)}
    >
      {face}
    </button>
  );
}
