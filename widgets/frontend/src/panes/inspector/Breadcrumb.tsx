/** The path of modules to an op, each to be selected. */

import { capped } from "../../format";
import type { Program } from "../../program";
import type { Store } from "../../store";
import { Dotted } from "../parts/parts";

interface BreadcrumbProps {
  store: Store;
  program: Program;
  /** Index into the record's scopes; -1 for none. */
  scope: number;
}

export function Breadcrumb({ store, program, scope }: BreadcrumbProps) {
  const { scopes } = program.record;
  const path: number[] = [];
  for (let at = scope; at >= 0; at = scopes[at]?.parent ?? -1) path.unshift(at);
  if (path.length === 0) return <span class="tx-lead">outside every module</span>;
  const innermost = scopes[scope];
  return (
    <>
      {path.map((each, index) => (
        <span key={each}>
          {index > 0 && <span class="tx-lead"> › </span>}
          <button
            type="button"
            class="tx-link"
            title={capped(scopes[each]?.cls ?? "")}
            onClick={() => store.select({ kind: "scope", scope: each }, "inspector")}
          >
            {capped(scopes[each]?.name ?? "", 120)}
          </button>
        </span>
      ))}
      {innermost && (
        <div class="tx-lead tx-mono">
          <Dotted name={innermost.cls} />
        </div>
      )}
    </>
  );
}
