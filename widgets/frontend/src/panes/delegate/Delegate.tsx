/** The ops that delegation backends take, why they leave others, and fixes that bring them in. */

import { useState } from "preact/hooks";
import { delegationName } from "../../decorations/delegation";
import { capped } from "../../format";
import type { Program } from "../../program";
import type { Store } from "../../store";
import { Empty } from "../parts/parts";
import { DelegateForm } from "./DelegateForm";
import { DelegationFixes } from "./DelegationFixes";
import { Outsiders } from "./Outsiders";
import { Partitions } from "./Partitions";
import { Shares } from "./Shares";
import { TakeTable } from "./TakeTable";

interface Props {
  store: Store;
  program: Program;
}

export function Delegate({ store, program }: Props) {
  const { delegations, op_table: table } = program.record;
  const [backend, setBackend] = useState("");
  const named = (name: string) => delegations.find((each) => each.backend === name);
  const shown =
    named(backend) ??
    delegations.find((each) => delegationName(each.backend) === store.chosen.value) ??
    delegations.at(-1);
  return (
    <section class="tx-panel" aria-label="Delegate" data-testid="delegate" data-pane>
      <div class="tx-scroll tx-delegate">
        {store.host.live && <DelegateForm store={store} lowered={setBackend} />}
        {delegations.length > 1 && (
          <label>
            Lowered for{" "}
            <select
              class="tx-input"
              value={shown?.backend}
              data-testid="delegation-shown"
              onChange={(event) => {
                setBackend(event.currentTarget.value);
                store.colourBy(delegationName(event.currentTarget.value));
              }}
            >
              {delegations.map((each) => (
                <option key={each.backend} value={each.backend}>
                  {capped(each.title, 60)}
                </option>
              ))}
            </select>
          </label>
        )}
        {shown ? (
          <>
            <Shares store={store} program={program} delegation={shown} />
            <Outsiders store={store} program={program} delegation={shown} />
            {!shown.is_stage && <DelegationFixes store={store} delegation={shown} />}
            <Partitions store={store} program={program} delegation={shown} />
          </>
        ) : (
          !table && (
            <Empty>
              {store.host.live
                ? "Not lowered yet. Lower shows which ops a backend such as XNNPACK takes, why the " +
                  "others stay outside, at your lines, and which rewrites bring them in. Your " +
                  "program is unchanged."
                : "The program was not lowered before this page was saved."}
            </Empty>
          )
        )}
        {table && <TakeTable store={store} program={program} table={table} />}
      </div>
    </section>
  );
}
