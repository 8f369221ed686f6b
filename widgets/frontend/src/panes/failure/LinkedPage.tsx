/**
 * The page that a diagnosis links to, shown in place. It comes from the installed torch, without
 * network.
 */

import { useState } from "preact/hooks";
import { BreakText } from "../../exportdb/BreakText";
import { CaseText } from "../../exportdb/CaseText";
import type { Link } from "../../record.gen";
import type { Store } from "../../store";
import { PlainLine } from "../parts/CodeLine";
import { Empty, Waiting } from "../parts/parts";
import { useAnswer } from "../parts/useAnswer";

interface Props {
  store: Store;
  link: Link;
}

export function LinkedPage({ store, link }: Props) {
  const [open, setOpen] = useState(false);
  if (!store.host.live || link.kind === "docs") return null;
  return (
    <details onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>{link.kind === "exportdb" ? "Show the case" : "Show the page"}</summary>
      {open &&
        (link.kind === "exportdb" ? (
          <Case store={store} link={link} />
        ) : (
          <Break store={store} link={link} />
        ))}
    </details>
  );
}

function Case({ store, link }: Props) {
  const answer = useAnswer(() => store.host.ask("case", { name: link.name }), [store, link.name]);
  if (answer.kind === "waiting") return <Waiting what="the case" slow={answer.slow} />;
  if (answer.kind === "refused") return <Empty>{answer.why}</Empty>;
  return (
    <div class="tx-linked" data-testid="linked-case">
      <CaseText found={answer.value.case} />
      <div class="tx-code tx-code-short">
        {answer.value.lines.map((line, index) => (
          <PlainLine key={index} line={line} number={index + 1} failing={false} />
        ))}
      </div>
      <p class="tx-lead">
        <code>%exportdb {link.name}</code> opens it to edit and export it live.
      </p>
    </div>
  );
}

function Break({ store, link }: Props) {
  const answer = useAnswer(() => store.host.ask("break", { name: link.name }), [store, link.name]);
  if (answer.kind === "waiting") return <Waiting what="the page" slow={answer.slow} />;
  if (answer.kind === "refused") return <Empty>{answer.why}</Empty>;
  return (
    <div class="tx-linked" data-testid="linked-break">
      <BreakText page={answer.value.page} />
    </div>
  );
}
