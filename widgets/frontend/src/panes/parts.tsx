/** Small parts that several panes share. All text is set as text. */

import type { ComponentChildren } from "preact";
import { capped, symbolColour } from "../format";
import type { Frame, NodeId, Program } from "../program";
import type { ValueType } from "../record.gen";
import type { Origin, Store } from "../store";

/** A value's type, each symbolic size in the colour of its symbol. */
export function TypeText({ program, type }: { program: Program; type: ValueType | undefined }) {
  if (!type?.text) return <span class="tx-lead">—</span>;
  if (type.kind !== "tensor" || type.shape.length === 0) {
    return <span class="tx-type">{capped(type.text)}</span>;
  }
  const head = type.text.slice(0, type.text.indexOf("[") + 1);
  return (
    <span class="tx-type">
      {head}
      {type.shape.map((size, index) => (
        <span key={index}>
          {index > 0 && ", "}
          <SizeText program={program} size={size} />
        </span>
      ))}
      ]
    </span>
  );
}

export function SizeText({ program, size }: { program: Program; size: number | string }) {
  const symbol = typeof size === "string" ? program.symbolsIn(size)[0] : undefined;
  if (symbol === undefined) return <>{size}</>;
  return <b style={{ color: symbolColour(symbol) }}>{size}</b>;
}

interface NodeLinkProps {
  store: Store;
  program: Program;
  node: NodeId;
  origin: Origin;
}

/** A node's name; a click selects it, hovering shows it in the graph. */
export function NodeLink({ store, program, node, origin }: NodeLinkProps) {
  const name = program.input(node)?.target || program.name(node);
  return (
    <button
      type="button"
      class="tx-link"
      title={capped(`${name}: ${program.type(node)?.text ?? ""}`)}
      onClick={() => store.select({ kind: "nodes", nodes: [node] }, origin)}
      onPointerEnter={() => (store.hovered.value = node)}
      onPointerLeave={() => (store.hovered.value = null)}
    >
      {capped(name, 120)}
    </button>
  );
}

/** A call stack, innermost call first; lines of libraries and torch are muted. */
export function Frames({
  store,
  program,
  frames,
}: {
  store: Store;
  program: Program;
  frames: Frame[];
}) {
  if (frames.length === 0) return <span class="tx-lead">not recorded</span>;
  return (
    <ol class="tx-frames">
      {frames.toReversed().map((frame, index) => {
        const file = program.record.files[frame.file];
        const muted = file?.origin === "torch" || file?.origin === "library";
        return (
          <li key={index} class={muted ? "tx-muted-frame" : ""}>
            <button
              type="button"
              class="tx-link"
              title={capped(file?.path ?? "")}
              onClick={() => store.goTo(frame.file, frame.line)}
            >
              {capped(`${file?.name ?? "?"}:${frame.line}`, 120)}
            </button>
            <span class="tx-lead">{capped(frame.function, 80)}</span>
          </li>
        );
      })}
    </ol>
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

/** What to say where there is nothing to show. */
export function Empty({ children }: { children: ComponentChildren }) {
  return <p class="tx-empty">{children}</p>;
}

/** Makes a row of a table work like a button. */
export function pressable(press: () => void) {
  return {
    tabIndex: 0,
    onClick: press,
    onKeyDown(event: KeyboardEvent) {
      if (event.key !== "Enter" && event.key !== " ") return;
      event.preventDefault();
      press();
    },
  };
}
