/** A page of torch's registry of graph breaks: torch's explanation and advice. */

import { Prose } from "../panes/parts/parts";
import type { GraphBreakPage } from "../record.gen";

export function BreakText({ page }: { page: GraphBreakPage }) {
  const { explanations, hints, contexts } = page;
  return (
    <div class="tx-page-text">
      {explanations.length === 0 && (
        <p class="tx-lead">torch documents only the name of this kind.</p>
      )}
      {explanations.map((text) => (
        <p key={text}>
          <Prose text={text} />
        </p>
      ))}
      {hints.length > 0 && (
        <>
          <h3>What torch advises</h3>
          <ul>
            {hints.map((hint) => (
              <li key={hint}>
                <Prose text={hint} />
              </li>
            ))}
          </ul>
        </>
      )}
      {contexts.length > 0 && (
        <p class="tx-lead">
          Its message also says: <Prose text={contexts.join("; ")} />
        </p>
      )}
      {page.url.startsWith("https://") && (
        <a class="tx-link" href={page.url} target="_blank" rel="noopener noreferrer">
          {page.name} on the web
        </a>
      )}
    </div>
  );
}
