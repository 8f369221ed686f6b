/** The value of each query field for a Record's nodes; the twin of `query/asked.py`. */

import { isInside, nodeOfOp, opsOnTensors } from "../delegation";
import { ensure } from "../maps";
import { list, type NodeId, nodeId, type Program } from "../program";
import type { Column, DelegatedOp, Delegation, Graph, Record, ValueType } from "../record.gen";
import { floatsOf } from "../values";

/** Receives a node's values: a test passes if it passes for one of them. */
export type Tell<T> = (node: NodeId, values: readonly T[]) => void;
type Source<T> = (program: Program, tell: Tell<T>) => void;

const NONE: readonly never[] = [];

/** The values of each table entry, for the nodes whose column points there. */
function byTable<T>(
  record: Record,
  column: "target" | "type" | "scope" | "stack",
  table: readonly (readonly T[])[],
  tell: Tell<T>,
): void {
  record.graphs.forEach((graph, number) => {
    const of = graph[column];
    for (let node = 0; node < of.length; node++) {
      const at = of[node] ?? -1;
      if (at >= 0) tell(nodeId(number, node), table[at] ?? NONE);
    }
  });
}

function typed<T>({ record }: Program, of: (type: ValueType) => readonly T[], tell: Tell<T>): void {
  const told = (type: ValueType, depth: number): readonly T[] => {
    if (type.items.length === 0 || depth > 8) return of(type);
    return type.items.flatMap((item) => {
      const inner = record.types[item];
      return inner ? told(inner, depth + 1) : [];
    });
  };
  byTable(
    record,
    "type",
    record.types.map((each) => told(each, 0)),
    tell,
  );
}

function enclosing({ record }: Program, of: "path" | "cls", tell: Tell<string>): void {
  const found: string[][] = [];
  for (const each of record.scopes) found.push([...(found[each.parent] ?? []), each[of]]);
  byTable(record, "scope", found, tell);
}

const stacks = (program: Program) =>
  Array.from({ length: Math.max(program.record.stacks.starts.length - 1, 0) }, (_, at) =>
    program.stackAt(at),
  );

/** The values of nodes for each text field; undefined if the Record has none. */
export function textsOf(program: Program, field: string): Source<string> | undefined {
  const { delegations } = program.record;
  if ((field === "delegated" || field === "reason") && delegations.length === 0) return undefined;
  return TEXTS[field];
}

/** The data of each delegation for the nodes of its ops. */
function ofDelegations(
  program: Program,
  text: (delegation: Delegation, op: DelegatedOp) => string,
  tell: Tell<string>,
): void {
  const told = new Map<NodeId, string[]>();
  for (const delegation of program.record.delegations) {
    for (const op of opsOnTensors(delegation)) {
      const node = nodeOfOp(program, delegation, op);
      if (node < 0) continue;
      const words = text(delegation, op);
      ensure(told, node, () => [] as string[]).push(...(words ? [words] : []));
    }
  }
  for (const [node, words] of told) tell(node, words);
}

const TEXTS: { readonly [field: string]: Source<string> } = {
  op: ({ record }, tell) =>
    byTable(
      record,
      "target",
      record.targets.map(({ name, label }) => [name, label]),
      tell,
    ),
  tag: ({ record }, tell) =>
    byTable(
      record,
      "target",
      record.targets.map(({ tags, core }) => (core ? [...tags, "core"] : tags)),
      tell,
    ),
  name: (program, tell) => {
    for (const id of program.allNodes()) tell(id, [program.name(id)]);
  },
  kind: (program, tell) => {
    for (const id of program.allNodes()) tell(id, [kindOf(program, id)]);
  },
  dtype: (program, tell) =>
    typed(
      program,
      ({ dtype, text }) => (dtype ? [dtype, text.split("[", 1)[0] ?? ""] : NONE),
      tell,
    ),
  shape: (program, tell) => {
    const { types } = program.record;
    const shapes = types.map(({ shape }) => shape.map(String));
    for (const id of program.allNodes()) {
      const at = program.typeIndex(id);
      if (types[at]?.kind === "tensor") tell(id, shapes[at] ?? NONE);
    }
  },
  symbol: (program, tell) =>
    typed(
      program,
      ({ shape, value }) =>
        [...shape, value].flatMap((size) =>
          typeof size === "string"
            ? program.symbolsIn(size).map((each) => program.record.symbols[each]?.name ?? "")
            : [],
        ),
      tell,
    ),
  device: (program, tell) => typed(program, ({ device }) => (device ? [device] : NONE), tell),
  module: ({ record }, tell) => {
    byTable(
      record,
      "scope",
      record.scopes.map(({ path }) => [path]),
      tell,
    );
    for (const each of record.signature.inputs) {
      if (each.node >= 0 && each.target) tell(nodeId(0, each.node), [each.target]);
    }
  },
  class: (program, tell) => enclosing(program, "cls", tell),
  file: (program, tell) => {
    const { files } = program.record;
    const told = stacks(program).map((frames) =>
      frames.flatMap(({ file, line }) => {
        const name = files[file]?.name ?? "";
        return [name, `${name}:${line}`];
      }),
    );
    byTable(program.record, "stack", told, tell);
  },
  function: (program, tell) => {
    const told = stacks(program).map((frames) => frames.map((each) => each.function));
    byTable(program.record, "stack", told, tell);
  },
  finding: ({ record }, tell) => {
    for (const { node, code, kind, heading, sentence } of record.findings) {
      if (node >= 0) tell(nodeId(0, node), [code, kind, heading, sentence]);
    }
  },
  delegated: (program, tell) =>
    ofDelegations(program, ({ backend }, op) => (isInside(op) ? backend : "no"), tell),
  reason: (program, tell) =>
    ofDelegations(program, (_, op) => (isInside(op) ? "" : op.reason), tell),
};

function kindOf(program: Program, id: NodeId): string {
  const op = program.op(id);
  if (op !== "placeholder") return op.startsWith("call_") ? "op" : op;
  const kind = program.input(id)?.kind ?? "user_input";
  return kind === "user_input" ? "input" : kind;
}

/** The values of nodes for each numeric field; undefined if the Record has none. */
export function numbersOf(program: Program, field: string): Source<number> | undefined {
  const [head, name = ""] = field.split(".");
  if (head === "value") return watched(program.record, name);
  if (head === "error") return paired(program.record, name);
  if (field === "time" || field === "memory") return profiled(program.record, field);
  return NUMBERS[field];
}

const NUMBERS: { readonly [field: string]: Source<number> } = {
  rank: (program, tell) =>
    typed(program, ({ kind, shape }) => (kind === "tensor" ? [shape.length] : NONE), tell),
  numel: (program, tell) =>
    typed(
      program,
      ({ kind, shape }) => {
        if (kind !== "tensor" || shape.some((size) => typeof size === "string")) return NONE;
        return [shape.reduce<number>((all, size) => all * Number(size), 1)];
      },
      tell,
    ),
  line: (program, tell) => {
    const { files } = program.record;
    const told = stacks(program).map((frames) =>
      frames.flatMap(({ file, line }) => (files[file]?.origin === "torch" ? [] : [line])),
    );
    byTable(program.record, "stack", told, tell);
  },
  users: (program, tell) => {
    for (const id of program.allNodes()) tell(id, [program.usersOf(id).length]);
  },
  inputs: ({ record }, tell) => {
    record.graphs.forEach((graph: Graph, number) => {
      for (let node = 0; node < graph.name.length; node++) {
        tell(nodeId(number, node), [new Set(Array.from(list(graph.inputs, node))).size]);
      }
    });
  },
};

function profiled({ profile }: Record, field: "time" | "memory"): Source<number> | undefined {
  if (!profile) return undefined;
  const costs = field === "time" ? profile.microseconds : profile.bytes;
  return (_, tell) => {
    costs.forEach((cost, node) => {
      if (cost >= 0) tell(nodeId(0, node), [cost]);
    });
  };
}

const COLUMNS: { readonly [name: string]: string } = {
  nan: "nans",
  inf: "infs",
  min: "minimum",
  max: "maximum",
};
const COUNTS = new Set(["nans", "infs", "runs", "overflow", "underflow"]);

function numbers(of: object, column: string): ArrayLike<number> {
  const found = (of as { [column: string]: Column })[column] ?? new Int32Array();
  return COUNTS.has(column) ? found : floatsOf(found);
}

function watched({ values }: Record, name: string): Source<number> | undefined {
  if (!values) return undefined;
  return (_, tell) => {
    for (const each of values.graphs) {
      const found = numbers(each, COLUMNS[name] ?? name);
      each.runs.forEach((runs, node) => {
        if (runs > 0) tell(nodeId(each.graph, node), [found[node] ?? 0]);
      });
    }
  };
}

function paired({ pairs }: Record, name: string): Source<number> | undefined {
  if (!pairs) return undefined;
  return (_, tell) => {
    for (const each of pairs.graphs) {
      const found = numbers(each, name);
      each.partner.forEach((partner, node) => {
        if (partner >= 0) tell(nodeId(each.graph, node), [found[node] ?? 0]);
      });
    }
  };
}
