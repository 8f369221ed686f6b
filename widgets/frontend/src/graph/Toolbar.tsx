/** The graph's buttons. A name begins with the text on the button, for who speaks it. */

import type { ComponentChildren } from "preact";
import { reasonOf } from "../format";
import type { Store } from "../store";
import { download } from "./saving";
import type { GraphView } from "./view";

export function Toolbar({ view, store }: { view: GraphView; store: Store }) {
  const { stage } = view;
  const hidden = view.hidden.value;
  const housekeeping = store.housekeeping.value;
  const more = housekeeping ? "" : ` +${hidden}`;
  const save = async (kind: "svg" | "png"): Promise<void> => {
    try {
      const svg = (): Blob => new Blob([view.svg()], { type: "image/svg+xml" });
      download(`graph.${kind}`, kind === "svg" ? svg() : await view.png());
    } catch (error) {
      view.folding.problem.value = reasonOf(error);
    }
  };
  return (
    <div class="tx-toolbar" role="toolbar" aria-label="Graph">
      <Button name="Zoom in (+)" text="+" press={() => stage.zoomBy(1.25)} />
      <Button name="Zoom out (-)" text="−" press={() => stage.zoomBy(0.8)} />
      <Button name="Fit: show all (f)" text="Fit" press={() => stage.showAll()} />
      <Button
        name="Expand: open every scope (e)"
        text="Expand"
        press={() => void view.folding.expandAll()}
      />
      <Button
        name="Collapse: close every scope (c)"
        text="Collapse"
        press={() => void view.folding.collapseAll()}
      />
      <Toggle
        name="Path: highlight everything upstream and downstream of the selection (p)"
        text="Path"
        on={view.showPath.value}
        press={() => {
          view.showPath.value = !view.showPath.value;
        }}
      />
      <Toggle
        name="Weights: show parameters and buffers as boxes of their own"
        text="Weights"
        on={view.parameters.value}
        press={() => {
          view.parameters.value = !view.parameters.value;
        }}
      />
      {store.program.value?.record.profile && (
        <Toggle
          name="Heat: colour ops by the time they take"
          text="Heat"
          on={Boolean(store.colouring.value?.measure)}
          press={() => store.colourBy(store.colouring.value?.measure ? "none" : "time")}
        />
      )}
      {(hidden > 0 || housekeeping) && (
        <Toggle
          name={`Sizes${more}: show ops that compute or check sizes, or quantize`}
          text={
            <>
              Sizes<span class="tx-toolbar-more">{more}</span>
            </>
          }
          on={housekeeping}
          press={() => {
            store.housekeeping.value = !housekeeping;
          }}
        />
      )}
      <span class="tx-toolbar-gap" />
      <span class="tx-toolbar-save">
        <Button name="Save the visible graph as SVG" text="SVG" press={() => void save("svg")} />
        <Button name="Save the visible graph as PNG" text="PNG" press={() => void save("png")} />
      </span>
    </div>
  );
}

function Button({ name, text, press }: { name: string; text: string; press: () => void }) {
  return (
    <button type="button" class="tx-button" title={name} aria-label={name} onClick={press}>
      {text}
    </button>
  );
}

interface ToggleProps {
  name: string;
  text: ComponentChildren;
  on: boolean;
  press: () => void;
}

function Toggle({ name, text, on, press }: ToggleProps) {
  return (
    <button
      type="button"
      class="tx-button"
      title={name}
      aria-label={name}
      aria-pressed={on}
      onClick={press}
    >
      {text}
    </button>
  );
}
