/** The Source pane: the user's files, each line with the ops it made. */

import { useMemo } from "preact/hooks";
import { type Decoration, markOf, noteOf } from "../../decorations/decoration";
import { LINE, lineColours } from "../../decorations/lines";
import { capped, counted } from "../../format";
import type { Program } from "../../program";
import type { SourceFile } from "../../record.gen";
import type { Store } from "../../store";
import { lineOf } from "../../user_frames";
import { GoToSource } from "../parts/GoToSource";
import { Empty, Waiting } from "../parts/parts";
import { useAnswer } from "../parts/useAnswer";
import { CodeLines } from "./CodeLines";
import { firstLineOf, startOf } from "./source_start";
import { Trail } from "./Trail";

const ORIGINS: [SourceFile["origin"], string][] = [
  ["cell", "Notebook cells"],
  ["user", "Your files"],
  ["library", "Libraries"],
  ["torch", "torch"],
  ["generated", "Generated"],
];

interface Props {
  store: Store;
  program: Program;
}

export function Source({ store, program }: Props) {
  const groups = useMemo(() => fileGroups(program), [program]);
  const start = useMemo(() => startOf(program), [program]);
  const file = shownFile(store, program) ?? start?.file ?? groups[0]?.files[0];
  if (file === undefined) {
    return (
      <section class="tx-panel" aria-label="Source" data-pane>
        <Empty>{whyEmpty(program)}</Empty>
      </section>
    );
  }
  const line = file === start?.file ? start.line : firstLineOf(program, file);
  return (
    <section class="tx-panel" aria-label="Source" data-pane>
      <div class="tx-code-bar">
        <select
          aria-label="File"
          title={capped(program.record.files[file]?.path ?? "")}
          value={String(file)}
          onChange={(event) => store.showFile(Number(event.currentTarget.value))}
        >
          {groups.map(({ title, files }) => (
            <optgroup key={title} label={title}>
              {files.map((each) => (
                <option key={each} value={each}>
                  {optionText(program, each)}
                </option>
              ))}
            </optgroup>
          ))}
        </select>
        <Trail store={store} program={program} file={file} />
        <GoToSource
          store={store}
          program={program}
          place={{
            file,
            line: chosenLine(store, file) || lineToShow(store, program, file) || line,
          }}
        />
      </div>
      <FileText
        store={store}
        program={program}
        file={file}
        start={line}
        failing={program.record.failure !== null && file === start?.file}
      />
    </section>
  );
}

interface FileTextProps extends Props {
  file: number;
  /** The line to begin at if nothing is selected, 1-based. */
  start: number;
  /** Whether that line is where the export failed. */
  failing: boolean;
}

function FileText({ store, program, file, start, failing }: FileTextProps) {
  const answer = useAnswer(() => store.source(file), [store, program, file]);
  const housekeeping = store.housekeeping.value;
  const counts = useMemo(
    () => opsPerLine(program, file, housekeeping),
    [program, file, housekeeping],
  );
  const colouring = store.colouring.value;
  const heat = useMemo(() => heatOfLines(program, file, colouring), [program, file, colouring]);
  const colours = colouring?.name === LINE ? lineColours(program).get(file) : undefined;
  if (answer.kind === "waiting") return <Waiting what="the file" slow={answer.slow} />;
  if (answer.kind === "refused") return <Empty>{answer.why}</Empty>;
  const lit = store.lit.value.lines.get(file);
  const place = store.place.value;
  return (
    <CodeLines
      lines={answer.value}
      label={`Lines of ${program.record.files[file]?.name ?? "the file"}`}
      start={start - 1}
      focus={lineToShow(store, program, file) - 1}
      cause={place ?? store.selection.value}
      counts
      marks={(index) => ({
        lit: lit?.has(index + 1) ?? false,
        here: place?.file === file && place.line === index + 1,
        failing: failing && index + 1 === start,
        ops: counts.get(index + 1) ?? 0,
        colour: colours?.get(index + 1),
        ...heat.get(index + 1),
      })}
      press={(index) => store.select({ kind: "line", file, line: index + 1 }, "source")}
    />
  );
}

/** The user's cells first, torch's own files last; within a group, as they were met. */
function fileGroups(program: Program): { title: string; files: number[] }[] {
  const { files } = program.record;
  return ORIGINS.map(([origin, title]) => ({
    title,
    files: files.flatMap((file, index) => (file.origin === origin ? [index] : [])),
  })).filter((group) => group.files.length > 0);
}

function optionText(program: Program, file: number): string {
  const ops = program.source.countOf(file);
  const name = capped(program.record.files[file]?.name ?? "", 100);
  return ops > 0 ? `${name} — ${counted(ops, "op")}` : name;
}

function whyEmpty(program: Program): string {
  for (const node of program.allNodes()) {
    if (program.op(node) === "call_function") {
      return program.record.sources_inside
        ? "No op has a source line: the program was saved without stack traces."
        : "No op has a source line: the code is not in a readable cell or file.";
    }
  }
  return "The program has no ops, so no source line has any.";
}

/** The requested file; else the best one for the selection. */
function shownFile(store: Store, program: Program): number | undefined {
  const asked = store.file.value;
  if (asked !== null) return asked;
  return lineOf(program, store.selection.value, store.lit.value.nodes)?.file;
}

/** The line of a file that is selected itself; 0 for none. */
function chosenLine(store: Store, file: number): number {
  const selection = store.selection.value;
  return selection.kind === "line" && selection.file === file ? selection.line : 0;
}

/** 1-based; 0 if the pane stays unchanged. */
function lineToShow(store: Store, program: Program, file: number): number {
  const place = store.place.value;
  if (place) return place.file === file ? place.line : 0;
  if (store.origin.value === "source") return 0;
  const { nodes } = store.lit.value;
  const best = lineOf(program, store.selection.value, nodes);
  if (best?.file === file) return best.line;
  for (const node of nodes) {
    const frame = program.stack(node).findLast((each) => each.file === file);
    if (frame) return frame.line;
  }
  return 0;
}

/** The amount of each line's ops, relative to the largest in the file. */
function heatOfLines(
  program: Program,
  file: number,
  colouring: Decoration | null,
): Map<number, { heat: number; cost: string }> {
  const found = new Map<number, { heat: number; cost: string }>();
  if (!colouring?.measure) return found;
  const marks = [...program.source.linesOf(file)].map(
    ([line, nodes]) => [line, markOf(colouring, nodes)] as const,
  );
  const most = Math.max(...marks.map(([, mark]) => mark?.amount ?? 0), 0);
  for (const [line, mark] of marks) {
    if (!mark?.amount) continue;
    found.set(line, { heat: mark.amount / most, cost: noteOf(colouring, mark) });
  }
  return found;
}

/** How many ops each line made; without those that are folded away everywhere. */
function opsPerLine(program: Program, file: number, housekeeping: boolean): Map<number, number> {
  return program.source.countsIn(file, (id) => housekeeping || !program.isHousekeeping(id));
}
