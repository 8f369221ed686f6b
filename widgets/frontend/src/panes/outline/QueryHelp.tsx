/** What the search box understands, with an example of each that a click tries. */

import { FIELDS } from "../../query/fields.gen";

const EXAMPLES: readonly (readonly [string, string])[] = [
  ["op:linear & dtype:f32", "both"],
  ["op:relu | op:gelu", "either"],
  ["!module:encoder", "not"],
  ["(op:add | op:mul) & rank > 2", "brackets"],
  ["layer.3 linear", "words: names, ops, modules, types, lines"],
];

export function QueryHelp({ attempt }: { attempt: (query: string) => void }) {
  return (
    <>
      <h3>Search by words, or ask</h3>
      <List rows={EXAMPLES} attempt={attempt} />
      <h3>Fields</h3>
      <List rows={FIELDS.map(({ example, means }) => [example, means])} attempt={attempt} />
      <p class="tx-muted">
        <code>:</code> finds a text, where <code>*</code> is any; <code>=</code> all of it; numbers
        compare with <code>= != &lt; &lt;= &gt; &gt;=</code>. In Python: <code>.query("…")</code>.
      </p>
    </>
  );
}

interface ListProps {
  rows: readonly (readonly [string, string])[];
  attempt: (query: string) => void;
}

function List({ rows, attempt }: ListProps) {
  return (
    <dl class="tx-keys">
      {rows.map(([example, means]) => (
        <>
          <dt key={example}>
            <button type="button" class="tx-link" onClick={() => attempt(example)}>
              {example}
            </button>
          </dt>
          <dd>{means}</dd>
        </>
      ))}
    </dl>
  );
}
