/** Shapes as Dims or as a ShapesSpec, whichever is chosen, with the Python to paste. */

import { useState } from "preact/hooks";
import { capped } from "../../format";
import type { ShapesForm } from "../../record.gen";
import { CopyButton } from "../parts/CopyButton";
import { LongText } from "../parts/parts";

const MOST_PYTHON = 20_000;

export function ShapesForms({ forms }: { forms: ShapesForm[] }) {
  const [chosen, choose] = useState(-1);
  const form = forms[chosen];
  return (
    <div class="tx-forms" data-testid="shapes-forms">
      <div class="tx-forms-head">
        <span class="tx-lead">Python to paste:</span>
        {forms.map((each, number) => (
          <button
            key={each.name}
            type="button"
            class="tx-button"
            aria-pressed={number === chosen}
            onClick={() => choose(number === chosen ? -1 : number)}
          >
            {each.name}
          </button>
        ))}
        {form?.python && <CopyButton text={() => form.python} label={`Copy ${form.name}`} />}
      </div>
      {form && (form.python ? <Written form={form} /> : <p>{capped(form.reason, 1000)}</p>)}
    </div>
  );
}

function Written({ form }: { form: ShapesForm }) {
  return (
    <>
      <code class="tx-forms-text">{capped(form.text, 4000)}</code>
      <LongText name={`${form.name} as Python`} kind="tx-forms-python">
        {capped(form.python, MOST_PYTHON)}
      </LongText>
    </>
  );
}
