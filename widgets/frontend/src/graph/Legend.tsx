/** The legend of the graph's colours and badges. Collapsed, it is one word and the colour scale. */

import type { ComponentChildren } from "preact";
import { useMemo } from "preact/hooks";
import type { Badge } from "../decorations/decoration";
import { LINE } from "../decorations/lines";
import { colourings } from "../decorations/registry";
import { capped } from "../format";
import type { Program } from "../program";
import type { Store } from "../store";

const KINDS: [accent: string, text: string][] = [
  ["aten", "ATen op"],
  ["prim", "Primitive op"],
  ["custom", "Custom op"],
  ["higher_order", "Higher-order op, with graphs of its own"],
  ["python", "Python call"],
  ["input", "Input"],
  ["output", "Output"],
];

interface LegendProps {
  store: Store;
  program: Program;
  /** Whether the minimap is in the legend's place. */
  aside: boolean;
  /** Whether it is in the strip that counts boxes below the view. */
  low: boolean;
}

export function Legend({ store, program, aside, low }: LegendProps) {
  const decorations = store.decorations.value;
  const choices = colourings(decorations).filter(({ name }) => name !== LINE);
  const colouring = store.colouring.value;
  const kinds = useMemo(() => kindsOf(program), [program]);
  const most = store.most.value;
  return (
    <details
      class={`tx-legend${aside ? " tx-legend-aside" : ""}${low ? " tx-legend-low" : ""}`}
      data-testid="legend"
      onKeyDown={closeOnEscape}
    >
      <summary>
        Legend{" "}
        {colouring?.measure && (
          <span
            class="tx-legend-scale"
            data-testid="scale"
            title={capped(`${colouring.title}: up to ${colouring.measure.text(most)}`)}
          >
            <span class="tx-legend-word">{colouring.title}: 0</span>
            {most > 0 ? (
              <>
                <span
                  class="tx-legend-ramp"
                  style={{ "--tx-legend-most": colouring.measure.colour }}
                  aria-hidden="true"
                />
                <span class="tx-legend-word">{capped(colouring.measure.text(most), 60)}</span>
              </>
            ) : (
              " everywhere"
            )}
          </span>
        )}
      </summary>
      <label>
        Colour by{" "}
        <select
          class="tx-input"
          value={colouring?.name ?? "none"}
          onChange={(event) => store.colourBy(event.currentTarget.value)}
        >
          <option value="none">kind of op</option>
          <option value={LINE}>source line</option>
          {choices.map(({ name, title }) => (
            <option key={name} value={name}>
              {capped(title, 60)}
            </option>
          ))}
        </select>
      </label>
      <dl>
        {!colouring &&
          KINDS.filter(([accent]) => kinds.has(accent)).map(([accent, text]) => (
            <Entry key={accent} colour={`var(--tx-op-${accent.replace("_", "-")})`}>
              {text}
            </Entry>
          ))}
        {decorations
          .filter((each) => !each.colours || each === colouring)
          .flatMap(({ name, legend }) =>
            legend.map((entry) => (
              <Entry key={`${name} ${entry.text}`} badge={entry.badge} colour={entry.colour}>
                {capped(entry.text, 80)}
              </Entry>
            )),
          )}
        <Entry sign="▸">Contains ops: double-click or press Enter to open</Entry>
        <Entry sign="⇧">Shift-click adds to the selection, Shift-drag selects an area</Entry>
        <Entry sign="◂">An input from elsewhere, shown by name instead of an edge</Entry>
        <Entry sign="▼">Used outside its module</Entry>
      </dl>
    </details>
  );
}

interface EntryProps {
  badge?: Badge | undefined;
  colour?: string | undefined;
  sign?: string;
  children: ComponentChildren;
}

function Entry({ badge, colour, sign, children }: EntryProps) {
  const swatch = badge?.colour ?? colour;
  return (
    <>
      <dt>
        {sign ?? (
          <span class="tx-badge-sign" style={{ background: swatch }}>
            {badge ? capped(badge.sign, 2) : ""}
          </span>
        )}
      </dt>
      <dd>{children}</dd>
    </>
  );
}

/** How the program's boxes are drawn, as far as it has them. */
function kindsOf({ record }: Program): Set<string> {
  return new Set(["input", "output", ...record.targets.map(({ kind }) => kind)]);
}

function closeOnEscape(event: KeyboardEvent): void {
  const details = event.currentTarget as HTMLDetailsElement;
  if (event.key !== "Escape" || !details.open) return;
  event.preventDefault();
  event.stopPropagation();
  details.open = false;
  details.querySelector("summary")?.focus();
}
