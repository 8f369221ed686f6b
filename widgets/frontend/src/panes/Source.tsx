/** The Source pane: the user's files, each line with the ops it made. */

import { useMemo } from "preact/hooks";
import { capped } from "../format";
import type { Program } from "../program";
import type { Store } from "../store";
import { CodeLines } from "./CodeLines";
import { Empty } from "./parts";
import { useAnswer } from "./useAnswer";

const ORIGINS = ["cell", "user", "library", "torch", "generated"];

export function Source({ store, program }: { store: Store; program: Program }) {
  const files = useMemo(() => orderedFiles(program), [program]);
  const file = chosenFile(store, program, files);
  if (file === undefined) {
    return <Empty>No op knows its line. A program saved without stack traces has none.</Empty>;
  }
  return (
    <section class="tx-panel" aria-label="Source">
      <div class="tx-code-bar">
        <select
          aria-label="File"
          value={file}
          onChange={(event) => (store.file.value = Number(event.currentTarget.value))}
        >
          {files.map((each) => (
            <option key={each} value={each}>
              {capped(program.record.files[each]?.name ?? "", 120)}
            </option>
          ))}
        </select>
      </div>
      <FileText store={store} program={program} file={file} />
    </section>
  );
}

function FileText({ store, program, file }: { store: Store; program: Program; file: number }) {
  const answer = useAnswer(() => store.source(file), [store, program, file]);
  if (answer.kind === "waiting") return <Empty>Fetching the file…</Empty>;
  if (answer.kind === "refused") return <Empty>{answer.why}</Empty>;
  const lines = program.linesOf(file);
  const lit = store.lit.value.lines.get(file);
  const focus = innermost(store, program, file);
  return (
    <CodeLines
      lines={answer.value}
      label={program.record.files[file]?.name ?? "source"}
      focus={focus}
      marks={(index) => ({
        lit: lit?.has(index + 1) ?? false,
        ops: lines.get(index + 1)?.length ?? 0,
      })}
      press={(index) => store.select({ kind: "line", file, line: index + 1 }, "source")}
    />
  );
}

/** Files some op has a line in: the user's cells first, torch's own last. */
function orderedFiles(program: Program): number[] {
  const rank = (file: number): number =>
    ORIGINS.indexOf(program.record.files[file]?.origin ?? "generated");
  return program.record.files
    .map((_, file) => file)
    .filter((file) => program.linesOf(file).size > 0)
    .sort((a, b) => rank(a) - rank(b));
}

/** The file asked for; else, of the selected op's stack, the innermost that is the user's. */
function chosenFile(store: Store, program: Program, files: number[]): number | undefined {
  const asked = store.file.value;
  if (asked !== null) return asked;
  const selection = store.selection.value;
  if (selection.kind === "line") return selection.file;
  const node = [...store.lit.value.nodes][0];
  const stack = node === undefined ? [] : program.stack(node);
  const origin = (file: number): string | undefined => program.record.files[file]?.origin;
  const own = stack.findLast(({ file }) => origin(file) === "cell" || origin(file) === "user");
  const library = stack.findLast(({ file }) => origin(file) === "library");
  return (own ?? library ?? stack.at(-1))?.file ?? files[0];
}

/** The line of a file to look at: of the first selected op, where its stack is deepest. */
function innermost(store: Store, program: Program, file: number): number {
  const selection = store.selection.value;
  if (selection.kind === "line") {
    return selection.file === file && store.origin.value !== "source" ? selection.line - 1 : -1;
  }
  const node = [...store.lit.value.nodes][0];
  const frame =
    node === undefined ? undefined : program.stack(node).findLast((f) => f.file === file);
  return frame ? frame.line - 1 : -1;
}
