/** Three things to try, shown once: a browser that has seen them is not shown them again. */

import { useEffect, useState } from "preact/hooks";
import { nodesBelow } from "../../forest/items";
import { forestOf } from "../../forest/program_forest";
import type { Program } from "../../program";
import type { Store } from "../../store";

const KEY = "export-explorer.visited";

interface Props {
  store: Store;
  program: Program;
}

export function FirstVisit({ store, program }: Props) {
  const [first, setFirst] = useState(isFirst);
  useEffect(remember, []);
  if (!first) {
    return <p class="tx-lead">Select an op, module, line or size for details.</p>;
  }
  const items = forestOf(program, { housekeeping: false, parameters: false }).items;
  const op = items.find(({ kind, held }) => kind === "op" && held.length > 0) ?? items.at(-1);
  return (
    <section class="tx-first" aria-label="To try first">
      <h3>Three things to try</h3>
      <ul>
        <li>
          <button
            type="button"
            class="tx-more"
            onClick={() =>
              op && store.select({ kind: "nodes", nodes: nodesBelow(op) }, "inspector")
            }
          >
            Select an op
          </button>{" "}
          in the graph: its line, its type and its users
        </li>
        <li>
          <button
            type="button"
            class="tx-more"
            onClick={(event) => {
              const view = event.currentTarget.closest(".tx-app");
              view?.querySelector<HTMLInputElement>("[data-search]")?.focus();
            }}
          >
            Press <kbd>/</kbd>
          </button>{" "}
          to search: a name, a module, a type, a line
        </li>
        <li>
          <button type="button" class="tx-more" onClick={() => store.open("shapes")}>
            Drag a size
          </button>{" "}
          in Shapes: which sizes the program accepts
        </li>
      </ul>
      <p>
        <button
          type="button"
          class="tx-more"
          onClick={() => {
            store.commands.value = true;
          }}
        >
          Press <kbd>?</kbd>
        </button>{" "}
        for everything else.{" "}
        <button type="button" class="tx-more" aria-label="Dismiss" onClick={() => setFirst(false)}>
          ×
        </button>
      </p>
    </section>
  );
}

function isFirst(): boolean {
  try {
    return localStorage.getItem(KEY) === null;
  } catch {
    return false; // a host without storage would show them each time
  }
}

function remember(): void {
  try {
    localStorage.setItem(KEY, "1");
  } catch {
    // They were not shown.
  }
}
