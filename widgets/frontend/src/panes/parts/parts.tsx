/** Small parts that several panes share. All text is set as text. */

import { type ComponentChildren, Fragment } from "preact";
import { useState } from "preact/hooks";
import { capped, grouped } from "../../format";
import { type NodeId, nodeId, type Program } from "../../program";
import type { Store } from "../../store";
import type { Origin } from "../../view_state";

interface NodeLinkProps {
  store: Store;
  program: Program;
  node: NodeId;
  origin: Origin;
}

/** A node's name, of a held tensor the end of its path; a click selects it, hovering shows it in the graph. */
export function NodeLink({ store, program, node, origin }: NodeLinkProps) {
  const target = program.input(node)?.target;
  const name = target || program.name(node);
  return (
    <button
      type="button"
      class="tx-link"
      title={capped(`${name}: ${program.type(node)?.text ?? ""}`)}
      onClick={() => store.select({ kind: "nodes", nodes: [node] }, origin)}
      onPointerEnter={() => {
        store.hovered.value = node;
      }}
      onPointerLeave={() => {
        store.hovered.value = null;
      }}
    >
      {capped(target ? target.split(".").slice(-2).join(".") : name, 120)}
    </button>
  );
}

/** A dotted name, or a path, that may break into lines after its dots or slashes. */
export function Dotted({ name }: { name: string }) {
  const parts = name.includes("/") ? /(?<=\/)/ : /(?<=\.)/;
  return (
    <>
      {capped(name, 300)
        .split(parts)
        .map((part, index) => (
          <Fragment key={index}>
            {index > 0 && <wbr />}
            {part}
          </Fragment>
        ))}
    </>
  );
}

export function Fact({ name, children }: { name: string; children: ComponentChildren }) {
  return (
    <>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </>
  );
}

/** A sentence of the engine's; text between backticks is code. Only ever set as text. */
export function Prose({ text, most = 2000 }: { text: string; most?: number }) {
  return (
    <>
      {capped(text, most)
        .split(/`([^`]+)`/)
        .map((part, index) => (index % 2 ? <code key={index}>{part}</code> : part))}
    </>
  );
}

interface LongTextProps {
  name: string;
  kind?: string;
  children: ComponentChildren;
}

/** A text that may be longer than its box, which the keys scroll. */
export function LongText({ name, kind = "tx-text", children }: LongTextProps) {
  return (
    // biome-ignore lint/a11y/useSemanticElements: spaces and line ends count in it
    // biome-ignore lint/a11y/noNoninteractiveTabindex: Safari scrolls with keys only what has the focus
    <pre class={kind} role="region" aria-label={name} tabIndex={0}>
      {children}
    </pre>
  );
}

interface SentenceProps extends Omit<NodeLinkProps, "node"> {
  text: string;
  /** In the main graph; -1 for none. */
  node: number;
}

/** A sentence of the engine's, and the op that it is about. */
export function Sentence({ store, program, text, node, origin }: SentenceProps) {
  return (
    <>
      <Prose text={text} most={600} />{" "}
      {node >= 0 && (
        <NodeLink store={store} program={program} node={nodeId(0, node)} origin={origin} />
      )}
    </>
  );
}

/** The message if there is nothing to show. */
export function Empty({ children }: { children: ComponentChildren }) {
  return <p class="tx-empty">{children}</p>;
}

/** What to say while something is fetched; `what` is "the file". */
export function Waiting({ what, slow }: { what: string; slow: boolean }) {
  if (!slow) return <Empty>Fetching {what}…</Empty>;
  return <Empty>The kernel is busy. It sends {what} when the running cell finishes.</Empty>;
}

/**
 * A button in the first cell of a clickable table row, for the keyboard and screen readers; pressing
 * it presses the row. The arrows move between rows.
 */
export function RowButton({ children }: { children: ComponentChildren }) {
  return (
    <button type="button" class="tx-row-button" onKeyDown={toNextRow}>
      {children}
    </button>
  );
}

function toNextRow(event: KeyboardEvent): void {
  const row = (event.currentTarget as HTMLElement).closest("tr");
  let next: Element | null | undefined;
  if (event.key === "ArrowDown") next = row?.nextElementSibling;
  else if (event.key === "ArrowUp") next = row?.previousElementSibling;
  else return;
  next?.querySelector<HTMLElement>(".tx-row-button")?.focus();
  event.preventDefault();
  event.stopPropagation();
}

interface MoreProps<T> {
  items: readonly T[];
  /** How many are shown before the rest is requested. */
  few: number;
  children: (item: T, index: number) => ComponentChildren;
}

/** The first few of a list, and a button for the rest. */
export function More<T>({ items, few, children }: MoreProps<T>) {
  const [all, setAll] = useState(false);
  const rest = items.length - few;
  return (
    <>
      {(all ? items : items.slice(0, few)).map(children)}
      {!all && rest > 0 && (
        <button type="button" class="tx-more" onClick={() => setAll(true)}>
          {grouped(rest)} more
        </button>
      )}
    </>
  );
}
