/**
 * The graph's buttons, in one row; rare ones are in a panel. A name begins with the text on the
 * button, for speech control.
 */

import type { ComponentChildren } from "preact";
import { reasonOf } from "../format";
import { Popover } from "../Popover";
import type { Store } from "../store";
import { download } from "./saving";
import type { GraphView } from "./view";

interface ToolbarProps {
  view: GraphView;
  store: Store;
  /** Content of the row in place of the buttons, which are then in the panel. */
  children?: ComponentChildren;
}

export function Toolbar({ view, store, children }: ToolbarProps) {
  return (
    <div class="tx-toolbar tx-toolbar-graph">
      {children || (
        <div class="tx-tools" role="toolbar" aria-label="Graph">
          <Tools view={view} store={store} />
        </div>
      )}
      <span class="tx-toolbar-gap" />
      <Popover name="More: display options and saving" face="⋯">
        {children ? (
          <Tools view={view} store={store} />
        ) : (
          <Scopes view={view} kind="tx-tool-narrow" />
        )}
        <More view={view} store={store} />
      </Popover>
    </div>
  );
}

function Tools({ view, store }: { view: GraphView; store: Store }) {
  const { folding, highlights, stage } = view;
  return (
    <>
      <Button name="Fit: show all (f)" text="Fit" press={() => folding.fit()} />
      <Button name="Zoom in (+)" text="+" press={() => stage.zoomBy(1.25)} />
      <Button name="Zoom out (-)" text="−" press={() => stage.zoomBy(0.8)} />
      <Scopes view={view} kind="tx-tool-wide" />
      {store.lit.value.nodes.size > 0 && (
        <Toggle
          name="Path: highlight everything upstream and downstream of the selection (p)"
          text="Path"
          on={highlights.showPath.value}
          press={() => highlights.togglePath()}
        />
      )}
    </>
  );
}

/** They are in the row, or in the panel if the row is narrow. */
function Scopes({ view: { folding }, kind }: { view: GraphView; kind: string }) {
  return (
    <>
      <Button
        name="Expand: open every scope (e)"
        text="Expand"
        kind={kind}
        press={() => void folding.expandAll()}
      />
      <Button
        name="Collapse: close every scope (c)"
        text="Collapse"
        kind={kind}
        press={() => void folding.collapseAll()}
      />
    </>
  );
}

/** What is rare: which ops are boxes, and saving. */
function More({ view, store }: { view: GraphView; store: Store }) {
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
    <>
      <Toggle
        name="Weights: show parameters and buffers as boxes of their own"
        text="Weights"
        on={view.parameters.value}
        press={() => {
          view.parameters.value = !view.parameters.value;
        }}
      />
      {(hidden > 0 || housekeeping) && (
        <Toggle
          name={`Sizes${more}: show ops that compute or check sizes, or quantize`}
          text={`Sizes${more}`}
          on={housekeeping}
          press={() => {
            store.housekeeping.value = !housekeeping;
          }}
        />
      )}
      <Button name="Save SVG of the visible graph" text="Save SVG" press={() => void save("svg")} />
      <Button name="Save PNG of the visible graph" text="Save PNG" press={() => void save("png")} />
    </>
  );
}

interface ButtonProps {
  name: string;
  text: string;
  /** A separate class. */
  kind?: string;
  press: () => void;
}

function Button({ name, text, kind = "", press }: ButtonProps) {
  return (
    <button
      type="button"
      class={`tx-button ${kind}`}
      title={name}
      aria-label={name}
      onClick={press}
    >
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
