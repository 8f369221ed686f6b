/** The facts of a case, in addition to its source. */

import { capped } from "../format";
import { Fact, Prose } from "../panes/parts/parts";
import type { ExportCase } from "../record.gen";

interface CaseTextProps {
  found: ExportCase;
  /** Shows the cases of a tag, where they can be shown. */
  showTag?: (tag: string) => void;
}

export function CaseText({ found, showTag }: CaseTextProps) {
  const { level, tags, description, inputs, shapes, explains } = found;
  return (
    <div class="tx-page-text">
      <p class="tx-case-marks">
        <span class={`tx-badge ${level === "supported" ? "tx-badge-good" : "tx-badge-warn"}`}>
          {level}
        </span>
        {tags.map((tag) =>
          showTag ? (
            <button
              key={tag}
              type="button"
              class="tx-badge tx-badge-button"
              title="Show the cases with this tag"
              onClick={() => showTag(tag)}
            >
              {tag}
            </button>
          ) : (
            <span key={tag} class="tx-badge">
              {tag}
            </span>
          ),
        )}
      </p>
      <p class="tx-case-description">
        <Prose text={description} most={4000} />
      </p>
      <dl class="tx-facts">
        <Fact name={inputs.length === 1 ? "Input" : "Inputs"}>
          <span class="tx-mono">
            {capped(inputs.map(({ path, text }) => `${path}: ${text}`).join(", "), 600)}
          </span>
        </Fact>
        <Fact name="Dynamic">
          {shapes ? (
            <span class="tx-mono">{capped(shapes, 400)}</span>
          ) : (
            "none: every size is static"
          )}
        </Fact>
        {explains.length > 0 && (
          <Fact name="Explains">failures of the kind: {capped(explains.join("; "), 400)}</Fact>
        )}
      </dl>
    </div>
  );
}
