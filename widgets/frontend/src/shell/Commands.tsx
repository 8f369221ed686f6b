/** The list of all commands: typing narrows it, arrows choose, Enter does it, Escape closes it. */

import { useEffect, useRef, useState } from "preact/hooks";
import { useDomId } from "../dom_id";
import { capped } from "../format";
import type { Program } from "../program";
import type { Store } from "../store";
import { type Command, commandsOf, countText, matching, type Surroundings } from "./all_commands";

/** A field with its own list: only for the platform's list is the role implied. */
const COMBOBOX = { role: "combobox", list: undefined } as const;

interface CommandsProps {
  store: Store;
  program: Program;
  around: Surroundings;
  /** The element of the whole view. */
  view: HTMLElement | null;
}

export function Commands(props: CommandsProps) {
  return props.store.commands.value && props.view ? <Open {...props} view={props.view} /> : null;
}

function Open({ store, program, around, view }: CommandsProps & { view: HTMLElement }) {
  const [text, setText] = useState("");
  const [at, setAt] = useState(0);
  const input = useRef<HTMLInputElement>(null);
  const list = useDomId();
  const before = useRef<Element | null>(null);
  const all = commandsOf(store, program, around);
  const shown = withSearch(store, matching(all, text), text);
  useEffect(() => {
    before.current = (view.getRootNode() as Document | ShadowRoot).activeElement;
    input.current?.focus();
  }, []);
  useEffect(() => {
    const row = (view.getRootNode() as Document | ShadowRoot).getElementById(`${list}-${at}`);
    row?.scrollIntoView?.({ block: "nearest" });
  }, [at]);
  const close = (): void => {
    store.commands.value = false;
    (before.current as HTMLElement | null)?.focus?.();
  };
  const run = (command: Command | undefined): void => {
    if (!command) return;
    close();
    command.run(view);
  };
  const move = (by: number): void => setAt((at + by + shown.length) % Math.max(shown.length, 1));
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.key === "ArrowDown") move(1);
    else if (event.key === "ArrowUp") move(-1);
    else if (event.key === "Enter") run(shown[at]);
    else if (event.key === "Escape" || event.key === "Tab") close();
    else {
      event.stopPropagation();
      return;
    }
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    <div
      class="tx-commands-veil"
      onPointerDown={(event) => event.target === event.currentTarget && close()}
    >
      <div class="tx-commands" role="dialog" aria-label="Commands">
        <input
          ref={input}
          class="tx-input"
          type="text"
          {...COMBOBOX}
          {...{ "aria-expanded": true }}
          aria-label="Commands: type to narrow the list, or a query to search the graph"
          aria-autocomplete="list"
          aria-controls={list}
          aria-activedescendant={shown.length > 0 ? `${list}-${at}` : undefined}
          placeholder="A command, a key, or a query such as op:linear"
          value={text}
          onInput={({ currentTarget }) => {
            setText(currentTarget.value);
            setAt(0);
          }}
          onKeyDown={onKeyDown}
          onBlur={({ relatedTarget }) => {
            if (relatedTarget instanceof Node && !view.contains(relatedTarget)) close();
          }}
        />
        <div
          id={list}
          class="tx-commands-list"
          role="listbox"
          aria-label={countText(shown)}
          tabIndex={-1}
        >
          {shown.map((command, index) => (
            <Row
              key={`${command.group} ${command.name}`}
              id={`${list}-${index}`}
              command={command}
              heading={command.group !== shown[index - 1]?.group}
              chosen={index === at}
              press={() => run(command)}
            />
          ))}
        </div>
      </div>
    </div>
  );
}

/** At the end, a search of the graph for the typed text; first if it is a query. */
function withSearch(store: Store, commands: Command[], text: string): Command[] {
  const query = text.trim();
  if (!query) return commands;
  const search = {
    group: "Search",
    name: `Search the graph for ${query}`,
    run: () => {
      store.query.value = query;
    },
  };
  return /[:<>=&|]/.test(query) ? [search, ...commands] : [...commands, search];
}

interface RowProps {
  id: string;
  command: Command;
  /** Whether its group begins here. */
  heading: boolean;
  chosen: boolean;
  press: () => void;
}

function Row({ id, command, heading, chosen, press }: RowProps) {
  return (
    <>
      {heading && (
        <div class="tx-commands-group" role="presentation">
          {command.group}
        </div>
      )}
      {/* biome-ignore lint/a11y/useKeyWithClickEvents: the field has the keys */}
      <div
        id={id}
        class="tx-command"
        role="option"
        aria-selected={chosen}
        tabIndex={-1}
        onPointerDown={(event) => event.preventDefault()}
        onClick={press}
      >
        <span class={command.group.startsWith("Search by") ? "tx-mono" : ""}>
          {capped(command.name, 120)}
        </span>
        <span class="tx-lead tx-clip">{command.means && capped(command.means, 120)}</span>
        {command.keys && <kbd>{command.keys}</kbd>}
      </div>
    </>
  );
}
