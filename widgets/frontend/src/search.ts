/** Search over the ops of a program. Pure. */

import type { NodeId, Program } from "./program";

/**
 * The ops that match every word of a query, in order. A word is looked for in an op's name, target,
 * scope, class, type and `file:line`; `*` stands for anything but a comma: `f32[*,768]`.
 */
export function searchNodes(program: Program, query: string): NodeId[] {
  const patterns = query.trim().split(/\s+/).filter(Boolean).map(pattern);
  if (patterns.length === 0) return [];
  const found: NodeId[] = [];
  for (const id of program.allNodes()) {
    if (program.op(id) === "get_attr") continue;
    const text = haystack(program, id);
    if (patterns.every((each) => each.test(text))) found.push(id);
  }
  return found;
}

function pattern(word: string): RegExp {
  const escaped = word.replace(/[.+?^${}()|[\]\\]/g, "\\$&").replaceAll("*", "[^,\\]]*");
  return new RegExp(escaped, "i");
}

function haystack(program: Program, id: NodeId): string {
  const scope = program.record.scopes[program.scope(id)];
  const input = program.input(id);
  const frame = program.stack(id).at(-1);
  const file = frame && program.record.files[frame.file];
  return [
    program.name(id),
    program.target(id)?.name,
    scope?.path,
    scope?.cls,
    program.type(id)?.text.replaceAll(", ", ","),
    input?.target,
    input?.path,
    file && frame && `${file.name}:${frame.line}`,
  ].join(" ");
}
