/** The selection in words, for screen readers. Pure. */

import { capped, counted } from "./format";
import type { NodeId, Program } from "./program";
import type { Selection } from "./selection";

const LONGEST = 300;

/** `linear_3: linear, f32[batch, 64], in layers.3.mlp`; empty if nothing is selected. */
export function spoken(program: Program, selection: Selection, lit: ReadonlySet<NodeId>): string {
  return capped(inWords(program, selection, lit), LONGEST);
}

function inWords(program: Program, selection: Selection, lit: ReadonlySet<NodeId>): string {
  const ops = counted(lit.size, "op");
  switch (selection.kind) {
    case "none":
      return "";
    case "nodes": {
      const [only] = lit;
      return lit.size === 1 && only !== undefined ? oneNode(program, only) : `${ops} selected`;
    }
    case "removed":
      return "removed op selected";
    case "scope": {
      const scope = program.record.scopes[selection.scope];
      return `module ${scope?.path || scope?.name || ""}: ${ops} selected`;
    }
    case "line":
      return `${program.record.files[selection.file]?.name ?? ""}, line ${selection.line}: ${ops} selected`;
    case "symbol":
      return `size ${program.record.symbols[selection.symbol]?.name ?? ""}: ${ops} selected`;
  }
}

function oneNode(program: Program, node: NodeId): string {
  const entry = program.input(node);
  const scope = program.record.scopes[program.scope(node)];
  const what = entry ? entry.kind.replaceAll("_", " ") : program.target(node)?.label;
  const facts = [what, program.type(node)?.text].filter(Boolean).join(", ");
  const place = scope?.path ? `, in ${scope.path}` : "";
  return `${entry?.target || entry?.path || program.name(node)}: ${facts}${place}`;
}
