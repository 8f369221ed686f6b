/** Differences of source files and printed graphs of two programs, on demand. */

import { useState } from "preact/hooks";
import { capped } from "../../format";
import type { TextDiff } from "../../record.gen";
import type { Store } from "../../store";
import { Diff } from "../parts/Diff";
import { Waiting } from "../parts/parts";
import { useAnswer } from "../parts/useAnswer";

const FACES: { [kind in TextDiff["kind"]]: string } = {
  source: "Source",
  code: "Printed graph",
};

export function TextDiffs({ store, other }: { store: Store; other: number }) {
  const attempt = store.current.value;
  const answer = useAnswer(
    () => store.host.ask("texts", { attempt, other }),
    [store, attempt, other],
  );
  if (answer.kind === "waiting") return <Waiting what="the texts" slow={answer.slow} />;
  if (answer.kind === "refused") return <p class="tx-empty">{capped(answer.why)}</p>;
  return (
    <>
      {answer.value.map((each) => (
        <Text key={`${each.kind} ${each.name}`} text={each} />
      ))}
    </>
  );
}

/** A long text is put into the page only when it is looked at. */
function Text({ text }: { text: TextDiff }) {
  const [open, setOpen] = useState(false);
  return (
    <details open={open} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>
        {FACES[text.kind]}: {capped(text.name, 120)}
      </summary>
      {open && <Diff text={text.diff} />}
    </details>
  );
}
