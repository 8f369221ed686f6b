/** One fix: its effect, before and after, its cost, and a button that applies it. */

import { capped } from "../../format";
import type { Program } from "../../program";
import type { FixCard as Card } from "../../record.gen";
import type { Store } from "../../store";
import { Diff } from "../parts/Diff";
import { LineLink } from "../parts/LineLink";
import { Prose } from "../parts/parts";
import { Word } from "../parts/Word";
import { WriteButton } from "../parts/WriteButton";
import { ShapesForms } from "./ShapesForms";

const KINDS: { [kind in Card["kind"]]: string } = {
  shapes: "shapes",
  mode: "mode",
  inputs: "example",
  options: "torch switch",
  code: "code",
};

interface FixCardProps {
  store: Store;
  program: Program;
  fix: Card;
  number: number;
  ticked: boolean;
  /** None if it cannot be combined with another. */
  tick?: () => void;
}

export function FixCard({ store, program, fix, number, ticked, tick }: FixCardProps) {
  const titleId = `tx-fix-${store.current.value}-${number}`;
  const givesUp = fix.lossy || fix.narrows;
  return (
    <li class="tx-fix" aria-labelledby={titleId} data-testid="fix">
      <div class="tx-fix-head">
        {tick && (
          <input
            type="checkbox"
            checked={ticked}
            onChange={tick}
            aria-label={`Tick: ${capped(fix.title, 200)}`}
            disabled={store.busy.value}
          />
        )}
        <strong id={titleId} class="tx-fix-title">
          <Prose text={fix.title} most={300} />
        </strong>
        {store.host.live && (
          <button
            type="button"
            class="tx-button tx-primary"
            disabled={store.busy.value}
            aria-describedby={titleId}
            onClick={() => void store.apply([number], `Applying: ${capped(fix.title, 120)}`)}
          >
            Apply
          </button>
        )}
        {(fix.kind === "code" || fix.kind === "shapes") && (
          <WriteButton store={store} fixes={[number]} describedBy={titleId} />
        )}
      </div>
      <p class="tx-fix-marks">
        <span class="tx-badge">{KINDS[fix.kind]}</span>
        <Word
          cls={givesUp ? "tx-badge tx-badge-warn" : "tx-badge tx-badge-good"}
          word={fix.lossy ? "lossy" : fix.narrows ? "fewer sizes" : "lossless"}
        />
        {fix.tried && <span class="tx-badge">tried: the export succeeds</span>}
        <LineLink store={store} program={program} stack={fix.stack} />
      </p>
      {fix.why && (
        <p class="tx-fix-why">
          <Prose text={fix.why} most={1000} />
        </p>
      )}
      {(fix.before || fix.after) && <Change before={fix.before} after={fix.after} />}
      {fix.forms.length > 0 && <ShapesForms forms={fix.forms} />}
      {fix.diffs.map((text, index) => (
        <Diff key={index} text={text} />
      ))}
      {fix.gives_up && (
        <p class="tx-fix-why">
          <strong>{givesUp ? "Gives up: " : "Note: "}</strong>
          <Prose text={fix.gives_up} most={1000} />
        </p>
      )}
    </li>
  );
}

/** Two lines, one below the other, so that changed parts line up. */
function Change({ before, after }: { before: string; after: string }) {
  return (
    <dl class="tx-change">
      {before && (
        <>
          <dt>now</dt>
          <dd class="tx-diff-removed">{capped(before, 2000)}</dd>
        </>
      )}
      {after && (
        <>
          <dt>then</dt>
          <dd class="tx-diff-added">{capped(after, 4000)}</dd>
        </>
      )}
    </dl>
  );
}
