/** A stable code, `EX111`; a click shows the page on it in place. */

import { useState } from "preact/hooks";
import { capped } from "../../format";
import type { Store } from "../../store";
import { PlainLine } from "./CodeLine";
import { Empty, Prose, Waiting } from "./parts";
import { useAnswer } from "./useAnswer";

const WORDS = "what it means, and what to do";

interface Props {
  store: Store;
  /** Empty in Records of older versions. */
  code: string;
}

interface CodePageProps extends Props {
  /** Whether the code alone is shown at first: nothing has to be done. */
  brief?: boolean;
}

export function CodePage({ store, code, brief = false }: CodePageProps) {
  const [open, setOpen] = useState(false);
  if (!code) return null;
  return (
    <details
      class={`tx-code-page${brief ? " tx-code-page-brief" : ""}`}
      title={brief ? WORDS : undefined}
      onToggle={(event) => setOpen(event.currentTarget.open)}
    >
      <summary>
        {capped(code, 12)}
        {!brief && (
          <>
            : <span class="tx-lead">{WORDS}</span>
          </>
        )}
      </summary>
      {open && <Page store={store} code={code} />}
    </details>
  );
}

function Page({ store, code }: Props) {
  const answer = useAnswer(() => store.host.ask("explain", { name: code }), [store, code]);
  if (answer.kind === "waiting") return <Waiting what="the page" slow={answer.slow} />;
  if (answer.kind === "refused") return <Empty>{answer.why}</Empty>;
  const { title, means, lines, cure, why } = answer.value;
  return (
    <section class="tx-linked" data-testid="code-page" aria-label={`${code}: ${title}`}>
      <strong>{title}</strong>
      <p>
        <Prose text={means} />
      </p>
      <div class="tx-code tx-code-short">
        {lines.map((line, index) => (
          <PlainLine key={index} line={line} number={index + 1} failing={false} />
        ))}
      </div>
      <p>
        <strong>What to do.</strong> <Prose text={cure} />
      </p>
      <p>
        <strong>Why.</strong> <Prose text={why} />
      </p>
      <p class="tx-lead">
        <code>explorer.explain("{code}")</code> shows this page.
      </p>
    </section>
  );
}
