/** All that is known of one node. */

import { argumentsOf } from "../../arguments";
import { bytesText, capped, words } from "../../format";
import { graphOf, indexOf, type NodeId, type Program } from "../../program";
import type { ValueType } from "../../record.gen";
import type { Store } from "../../store";
import { Frames } from "../parts/Frames";
import { Fact, More, NodeLink } from "../parts/parts";
import { SizesText, TypeText } from "../parts/TypeText";
import { Word } from "../parts/Word";
import { Breadcrumb } from "./Breadcrumb";
import { Decorated } from "./Decorated";

interface NodeProps {
  store: Store;
  program: Program;
  node: NodeId;
}

const FEW_USERS = 24;
const FEW_ITEMS = 8;

export function NodeFacts({ store, program, node }: NodeProps) {
  const target = program.target(node);
  const users = program.usersOf(node);
  return (
    <div class="tx-scroll" data-testid="inspector">
      <h3 class="tx-name">{capped(program.name(node), 300)}</h3>
      <p class="tx-lead tx-mono">{target?.name ?? words(program.op(node))}</p>
      {target && <Tags program={program} node={node} />}
      <dl class="tx-facts">
        <Roles program={program} node={node} />
        <Value program={program} type={program.type(node)} />
        {program.op(node) !== "placeholder" && (
          <Fact name="Arguments">
            <Arguments store={store} program={program} node={node} />
          </Fact>
        )}
        <Fact name={users.length === 1 ? "Used by" : `Used by (${users.length})`}>
          {users.length === 0 && <span class="tx-lead">none</span>}
          <span class="tx-list">
            <More items={users} few={FEW_USERS}>
              {(user) => (
                <NodeLink
                  key={user}
                  store={store}
                  program={program}
                  node={user}
                  origin="inspector"
                />
              )}
            </More>
          </span>
        </Fact>
        <Decorated store={store} nodes={[node]} />
        <Origin program={program} node={node} />
        <Branches store={store} program={program} node={node} />
        <Fact name="Module">
          <Breadcrumb store={store} program={program} scope={program.scope(node)} />
        </Fact>
        <Fact name="Called from">
          <Frames store={store} program={program} frames={program.stack(node)} />
        </Fact>
        {target?.schema && (
          <Fact name="Schema">
            <Schema schema={target.schema} />
          </Fact>
        )}
      </dl>
    </div>
  );
}

/** In a decomposed program, the original op of a node. */
function Origin({ program, node }: { program: Program; node: NodeId }) {
  const { level, strings } = program.record;
  const origin = graphOf(node) === 0 ? (level?.origins[indexOf(node)] ?? -1) : -1;
  if (!level || origin < 0) return null;
  return (
    <Fact name="Comes from">
      <span class="tx-mono">{capped(strings[origin] ?? "", 120)}</span>
      {level.fallback.includes(indexOf(node)) && (
        <span class="tx-lead"> (matched by structure; torch did not record it)</span>
      )}
    </Fact>
  );
}

/** The node's entry in the signature: `parameter lin.weight`, `user output 0`. */
function Roles({ program, node }: { program: Program; node: NodeId }) {
  const input = program.input(node);
  return (
    <>
      {input && (
        <Fact name="Role">
          {words(input.kind)} <span class="tx-mono">{capped(input.target || input.path, 300)}</span>
          {input.bytes > 0 && ` · ${bytesText(input.bytes)}`}
          {input.persistent === false && " · not in the state dict"}
          {input.constant !== null && <span class="tx-mono"> = {capped(input.constant, 300)}</span>}
        </Fact>
      )}
      {program.outputs(node).map((entry) => (
        <Fact key={`${entry.kind} ${entry.path} ${entry.target}`} name="Returned as">
          {words(entry.kind)} <span class="tx-mono">{capped(entry.target || entry.path, 300)}</span>
        </Fact>
      ))}
    </>
  );
}

function Value({ program, type }: { program: Program; type: ValueType | undefined }) {
  const items = type?.kind === "tuple" ? type.items : [];
  return (
    <>
      <Fact name="Value">
        {items.length === 0 && <TypeText program={program} type={type} />}
        <More items={items} few={FEW_ITEMS}>
          {(item, index) => (
            <div key={index}>
              <span class="tx-lead tx-mono">{index} </span>
              <TypeText program={program} type={program.record.types[item]} />
            </div>
          )}
        </More>
      </Fact>
      {type?.kind === "tensor" && (
        <Fact name="Stored">
          {[type.dtype, type.device, type.layout].filter(Boolean).join(" · ")}
          {type.requires_grad && " · needs gradient"}
          {type.stride.length > 0 && (
            <>
              {" · stride "}
              <span class="tx-type">
                (<SizesText program={program} sizes={type.stride} />)
              </span>
            </>
          )}
        </Fact>
      )}
    </>
  );
}

function Arguments({ store, program, node }: NodeProps) {
  return (
    <span class="tx-mono tx-arguments">
      {argumentsOf(program, node).map(
        ({ name, pieces, isDefault }, at) =>
          !isDefault && (
            <span key={at}>
              {name && <span class="tx-lead">{capped(name, 100)}=</span>}
              {pieces.map((piece, index) =>
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
          ),
      )}
    </span>
  );
}

/** The graphs that a higher-order op runs, and the op that runs this node's graph. */
function Branches({ store, program, node }: NodeProps) {
  const branches = program.branchesOf(node);
  const runner = program.runnerOf(node);
  return (
    <>
      {branches.map(({ argument, nodes }) => (
        <Fact key={argument} name={`Runs ${argument}`}>
          <button
            type="button"
            class="tx-link"
            onClick={() => store.select({ kind: "nodes", nodes }, "inspector")}
          >
            {nodes.length} nodes
          </button>
        </Fact>
      ))}
      {runner && (
        <Fact name="Run by">
          <NodeLink store={store} program={program} node={runner.node} origin="inspector" />{" "}
          <span class="tx-lead">as {runner.argument}</span>
        </Fact>
      )}
    </>
  );
}

function Tags({ program, node }: { program: Program; node: NodeId }) {
  const target = program.target(node);
  if (!target) return null;
  const others = target.tags.filter((tag) => tag !== "core");
  return (
    <p class="tx-tags">
      <span class="tx-tag">{words(target.kind)}</span>
      {target.core && <Word cls="tx-tag" word="core ATen" />}
      {target.mutates.length > 0 && (
        <span class="tx-tag tx-tag-warn">writes to {target.mutates.join(", ")}</span>
      )}
      {target.mutates.length === 0 && target.schema && <span class="tx-tag">mutates nothing</span>}
      {target.aliases.length > 0 && (
        <span class="tx-tag">may share memory with {target.aliases.join(", ")}</span>
      )}
      {others.map((tag) => (
        <span key={tag} class="tx-tag">
          {words(tag)}
        </span>
      ))}
    </p>
  );
}

/** The schema, with its alias marks apart: `(a)` shares memory, `(a!)` is written to. */
function Schema({ schema }: { schema: string }) {
  return (
    <span class="tx-mono">
      {schema.split(/(\([a-z|]+!?(?: ?-> ?[^)]*)?\))/).map((piece, index) =>
        index % 2 === 0 ? (
          piece
        ) : (
          <span key={index} class={piece.includes("!") ? "tx-written" : "tx-shared"}>
            {piece}
          </span>
        ),
      )}
    </span>
  );
}
