/** The programs to compare with: attempts, programs of the kernel, and files. */

import { useEffect, useState } from "preact/hooks";
import { capped, reasonOf } from "../format";
import type { OtherProgram } from "../messages.gen";
import { Popover } from "../Popover";
import { compareTime, Expected } from "../panes/parts/Expected";
import type { Store } from "../store";

export function CompareWith({ store }: { store: Store }) {
  const current = store.current.value;
  const attempts = store.attempts.value;
  if (attempts[current]?.outcome !== "exported" || store.comparison.value) return null;
  const others = comparable(store);
  if (others.length === 0 && !store.host.live) return null;
  return (
    <Popover name="Compare with another program" face="Compare with…" core="Compare">
      {(close) => <Choices store={store} close={close} />}
    </Popover>
  );
}

/** The numbers of the other attempts that have a program. */
function comparable(store: Store): number[] {
  return store.attempts.value.flatMap((each, index) =>
    index !== store.current.value && each.outcome === "exported" ? [index] : [],
  );
}

interface ChoicesProps {
  store: Store;
  close: () => void;
}

function Choices({ store, close }: ChoicesProps) {
  const [programs, setPrograms] = useState<OtherProgram[] | null>(null);
  const [reason, setReason] = useState("");
  const { live } = store.host;
  useEffect(() => {
    if (!live) return;
    store.others().then(setPrograms, (error: unknown) => setReason(reasonOf(error)));
  }, [store, live]);
  const others = comparable(store);
  const attempts = store.attempts.value;
  const choose = (program: OtherProgram) => () => {
    close();
    void store.compareWith(program);
  };
  const program = store.program.value;
  return (
    <>
      {program && (
        <Expected store={store} action="Comparing">
          Reads the other program and pairs their ops: {compareTime(program)}
        </Expected>
      )}
      {others.length > 0 && <h3>Attempts</h3>}
      <ul class="tx-history">
        {others.map((index) => (
          <Choice
            key={index}
            store={store}
            name={store.nameOf(index)}
            means={attempts[index]?.verdict ?? ""}
            run={() => {
              close();
              void store.compare(index);
            }}
          />
        ))}
      </ul>
      {live && <Listed where="kernel" {...{ programs, reason, store, choose }} />}
      {live && <Listed where="file" {...{ programs, reason, store, choose }} />}
      {live && <PathOfFile store={store} choose={choose} />}
    </>
  );
}

interface ChoiceProps {
  store: Store;
  name: string;
  means: string;
  run: () => void;
}

function Choice({ store, name, means, run }: ChoiceProps) {
  return (
    <li>
      <button
        type="button"
        class="tx-history-step"
        disabled={store.busy.value}
        onClick={run}
        title="Compares the program on screen with this one"
      >
        {capped(name, 200)}
        {means && <span class="tx-lead">{capped(means, 160)}</span>}
      </button>
    </li>
  );
}

interface ListedProps {
  store: Store;
  where: OtherProgram["where"];
  programs: OtherProgram[] | null;
  reason: string;
  choose: (program: OtherProgram) => () => void;
}

const HEADINGS = { kernel: "In the kernel", file: "Files" };
const NONE = { kernel: "No variable holds another program.", file: "No .pt2 file in this folder." };

function Listed({ store, where, programs, reason, choose }: ListedProps) {
  const listed = programs?.filter((each) => each.where === where) ?? [];
  const lead = programs === null ? reason || "Looking …" : NONE[where];
  return (
    <>
      <h3>{HEADINGS[where]}</h3>
      {listed.length === 0 && <p class="tx-lead">{capped(lead, 300)}</p>}
      <ul class="tx-history">
        {listed.map((each) => (
          <Choice
            key={`${each.name} ${each.model}`}
            store={store}
            name={each.name}
            means={each.model || each.title}
            run={choose(each)}
          />
        ))}
      </ul>
    </>
  );
}

function PathOfFile({ store, choose }: Pick<ListedProps, "store" | "choose">) {
  const [path, setPath] = useState("");
  return (
    <form
      class="tx-filters"
      onSubmit={(event) => {
        event.preventDefault();
        if (path.trim()) choose({ name: path.trim(), where: "file", model: "", title: "" })();
      }}
    >
      <input
        type="text"
        class="tx-input"
        aria-label="Path of another .pt2 file"
        placeholder="path/to/another.pt2"
        value={path}
        onInput={(event) => setPath(event.currentTarget.value)}
      />
      <button type="submit" class="tx-button" disabled={store.busy.value || !path.trim()}>
        Compare
      </button>
    </form>
  );
}
