/** The Inspector pane: all that is known of what is selected. */

import { bytesText, capped, counted, rangeText, symbolColour, words } from "../format";
import type { NodeId, Program } from "../program";
import { descendants, type Store } from "../store";
import { Fact, Frames, NodeLink, SizeText, TypeText } from "./parts";

export function Inspector({ store, program }: { store: Store; program: Program }) {
  const selection = store.selection.value;
  const nodes = [...store.lit.value.nodes];
  const only = nodes[0];
  if (selection.kind === "nodes" && nodes.length === 1 && only !== undefined) {
    return <NodeFacts store={store} program={program} node={only} />;
  }
  if (selection.kind === "scope") {
    return <ScopeFacts store={store} program={program} scope={selection.scope} nodes={nodes} />;
  }
  if (selection.kind === "symbol") {
    const symbol = program.record.symbols[selection.symbol];
    return (
      <div class="tx-scroll">
        <h2 class="tx-name" style={{ color: symbolColour(selection.symbol) }}>
          {symbol?.name}
        </h2>
        <p class="tx-lead">
          {symbol ? rangeText(symbol) : ""} · on {counted(nodes.length, "value")}
        </p>
        <Histogram program={program} nodes={nodes} />
      </div>
    );
  }
  if (nodes.length > 0) {
    const place =
      selection.kind === "line"
        ? `${program.record.files[selection.file]?.name}:${selection.line}`
        : "selection";
    return (
      <div class="tx-scroll">
        <h2 class="tx-name">{place}</h2>
        <p class="tx-lead">{counted(nodes.length, "op")}</p>
        <div class="tx-list">
          {nodes.slice(0, 60).map((node) => (
            <NodeLink key={node} store={store} program={program} node={node} origin="inspector" />
          ))}
        </div>
        <Histogram program={program} nodes={nodes} />
      </div>
    );
  }
  return <Overview program={program} />;
}

function NodeFacts({ store, program, node }: { store: Store; program: Program; node: NodeId }) {
  const target = program.target(node);
  const type = program.type(node);
  const input = program.input(node);
  const outputs = program.outputs(node);
  const users = program.usersOf(node);
  return (
    <div class="tx-scroll" data-testid="inspector">
      <h2 class="tx-name">{capped(program.name(node), 300)}</h2>
      <p class="tx-lead tx-mono">{target?.name ?? program.op(node)}</p>
      {target && <Tags program={program} node={node} />}
      <dl class="tx-facts">
        {input && (
          <Fact name="Role">
            {words(input.kind)}{" "}
            <span class="tx-mono">{capped(input.target || input.path, 300)}</span>
            {input.bytes > 0 && ` · ${bytesText(input.bytes)}`}
          </Fact>
        )}
        {outputs.map((entry) => (
          <Fact key={`${entry.kind}${entry.path}${entry.target}`} name="Returned as">
            {words(entry.kind)}{" "}
            <span class="tx-mono">{capped(entry.target || entry.path, 300)}</span>
          </Fact>
        ))}
        <Fact name="Value">
          <TypeText program={program} type={type} />
        </Fact>
        {type?.kind === "tensor" && (
          <Fact name="Layout">
            {type.dtype} · {type.device} · {type.layout}
            {type.stride.length > 0 && (
              <>
                {" · stride ("}
                {type.stride.map((step, index) => (
                  <span key={index}>
                    {index > 0 && ", "}
                    <SizeText program={program} size={step} />
                  </span>
                ))}
                )
              </>
            )}
          </Fact>
        )}
        {program.op(node) !== "placeholder" && (
          <Fact name="Arguments">
            <span class="tx-mono">
              {program
                .argumentPieces(node)
                .map((piece, index) =>
                  "text" in piece ? (
                    capped(piece.text, 1000)
                  ) : (
                    <NodeLink
                      key={index}
                      store={store}
                      program={program}
                      node={piece.node}
                      origin="inspector"
                    />
                  ),
                )}
            </span>
          </Fact>
        )}
        <Fact name={`Users (${users.length})`}>
          {users.length === 0 ? <span class="tx-lead">none</span> : null}
          <span class="tx-list">
            {users.slice(0, 40).map((user) => (
              <NodeLink key={user} store={store} program={program} node={user} origin="inspector" />
            ))}
            {users.length > 40 && <span class="tx-lead">… {users.length - 40} more</span>}
          </span>
        </Fact>
        <Fact name="Scope">
          <Breadcrumb store={store} program={program} scope={program.scope(node)} />
        </Fact>
        <Fact name="Called from">
          <Frames store={store} program={program} frames={program.stack(node)} />
        </Fact>
        {target?.schema && (
          <Fact name="Schema">
            <span class="tx-mono">{target.schema}</span>
          </Fact>
        )}
      </dl>
    </div>
  );
}

function Tags({ program, node }: { program: Program; node: NodeId }) {
  const target = program.target(node);
  if (!target) return null;
  return (
    <p>
      <span class="tx-tag">{words(target.kind)}</span>
      {target.core && <span class="tx-tag">core ATen</span>}
      {target.mutates.length > 0 ? (
        <span class="tx-tag tx-tag-warn">writes to {target.mutates.join(", ")}</span>
      ) : (
        target.schema && <span class="tx-tag">does not mutate</span>
      )}
      {target.aliases.length > 0 && (
        <span class="tx-tag">may share memory with {target.aliases.join(", ")}</span>
      )}
      {target.tags
        .filter((tag) => tag !== "core")
        .map((tag) => (
          <span key={tag} class="tx-tag">
            {words(tag)}
          </span>
        ))}
    </p>
  );
}

function Breadcrumb({ store, program, scope }: { store: Store; program: Program; scope: number }) {
  const path: number[] = [];
  for (let at = scope; at >= 0; at = program.record.scopes[at]?.parent ?? -1) path.unshift(at);
  if (path.length === 0) return <span class="tx-lead">outside every module</span>;
  return (
    <>
      {path.map((each, index) => {
        const entry = program.record.scopes[each];
        return (
          <span key={each}>
            {index > 0 && " › "}
            <button
              type="button"
              class="tx-link"
              title={capped(entry?.cls ?? "")}
              onClick={() => store.select({ kind: "scope", scope: each }, "inspector")}
            >
              {capped(entry?.name ?? "", 120)}
            </button>
          </span>
        );
      })}
    </>
  );
}

interface ScopeProps {
  store: Store;
  program: Program;
  scope: number;
  nodes: NodeId[];
}

function ScopeFacts({ store, program, scope, nodes }: ScopeProps) {
  const entry = program.record.scopes[scope];
  const parameters = program.record.signature.inputs.filter(
    (input) => input.kind === "parameter" && under(input.target, entry?.path ?? ""),
  );
  const bytes = parameters.reduce((sum, each) => sum + each.bytes, 0);
  return (
    <div class="tx-scroll" data-testid="inspector">
      <h2 class="tx-name">{capped(entry?.path || entry?.name || "", 300)}</h2>
      <p class="tx-lead tx-mono">{entry?.cls}</p>
      <dl class="tx-facts">
        <Fact name="Ops">{nodes.length.toLocaleString("en")}</Fact>
        <Fact name="Scopes inside">{descendants(program, scope).size - 1}</Fact>
        <Fact name="Parameters">
          {counted(parameters.length, "tensor")}, {bytesText(bytes)}
        </Fact>
        <Fact name="Inside">
          <Breadcrumb store={store} program={program} scope={entry?.parent ?? -1} />
        </Fact>
      </dl>
      <Histogram program={program} nodes={nodes} />
    </div>
  );
}

const under = (target: string, path: string): boolean =>
  path === "" || target.startsWith(`${path}.`);

function Overview({ program }: { program: Program }) {
  const { record } = program;
  const nodes = [...program.allNodes()].filter((id) => program.target(id));
  const held = record.signature.inputs.filter((each) => each.kind !== "user_input");
  const bytes = held.reduce((sum, each) => sum + each.bytes, 0);
  const inputs = record.signature.inputs.filter((each) => each.kind === "user_input");
  return (
    <div class="tx-scroll" data-testid="inspector">
      <h2 class="tx-name">{capped(record.title, 300)}</h2>
      <p class="tx-lead">Select an op, a line or a dim to see all that is known of it.</p>
      <dl class="tx-facts">
        <Fact name="Inputs">
          {inputs.map((each) => (
            <div key={each.name}>
              <span class="tx-mono">{capped(each.path || each.name, 120)}</span>{" "}
              {each.constant ?? <TypeText program={program} type={record.types[each.type]} />}
            </div>
          ))}
        </Fact>
        <Fact name="Holds">
          {counted(held.length, "tensor")}, {bytesText(bytes)}
        </Fact>
        {record.shapes && (
          <Fact name="Dynamic">
            <span class="tx-mono">{capped(record.shapes, 2000)}</span>
          </Fact>
        )}
        {record.timing && <Fact name="Exported in">{record.timing.capture.toFixed(2)} s</Fact>}
        <Fact name="torch">{record.torch_version}</Fact>
      </dl>
      <Histogram program={program} nodes={nodes} />
    </div>
  );
}

const MOST_KINDS = 16;

/** How often each op stands among some nodes. */
function Histogram({ program, nodes }: { program: Program; nodes: readonly NodeId[] }) {
  const counts = new Map<string, number>();
  for (const node of nodes) {
    const name = program.target(node)?.name;
    if (name) counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  const sorted = [...counts].sort((a, b) => b[1] - a[1]);
  const most = sorted[0]?.[1] ?? 1;
  if (sorted.length === 0) return null;
  return (
    <table class="tx-table">
      <caption>Ops by kind</caption>
      <tbody>
        {sorted.slice(0, MOST_KINDS).map(([name, count]) => (
          <tr key={name}>
            <td class="tx-mono">{name}</td>
            <td class="tx-number">{count.toLocaleString("en")}</td>
            <td style={{ width: "30%" }}>
              <div class="tx-bar" style={{ width: `${(100 * count) / most}%` }} />
            </td>
          </tr>
        ))}
      </tbody>
      {sorted.length > MOST_KINDS && (
        <tfoot>
          <tr>
            <td class="tx-lead" colSpan={3}>
              and {sorted.length - MOST_KINDS} more kinds
            </td>
          </tr>
        </tfoot>
      )}
    </table>
  );
}
