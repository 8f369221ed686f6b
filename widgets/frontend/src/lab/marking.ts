/** Keeps failures and findings as squiggles in the editors that made them. */

import { countOf } from "../editor_link/cells";
import { linesAsRun } from "../editor_link/lines_as_run";
import type { View } from "../editor_link/link";
import type { Mark } from "../editor_link/marks";
import { lineStarts } from "../editor_link/text_changes";
import type { Documents } from "./documents";
import type { CodeMirrorState, CodeMirrorView, SharedText } from "./editor_modules";
import type { Matching } from "./matching";
import type { Settings } from "./settings";
import { type Squiggle, Squiggles } from "./squiggles";

/** Typing changes a text many times. */
const REST_MS = 120;

export class Marking {
  readonly squiggles: Squiggles;
  private timer: ReturnType<typeof setTimeout> | undefined;
  /** Counts rounds: one that was overtaken ends. */
  private rounds = 0;

  constructor(
    state: CodeMirrorState,
    view: CodeMirrorView,
    private readonly documents: Documents,
    private readonly matching: Matching,
    private readonly settings: Settings,
    private readonly views: ReadonlySet<View>,
  ) {
    this.squiggles = new Squiggles(state, view, () => this.later());
  }

  /** Marks all of it again, soon. */
  later(): void {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => void this.mark(), REST_MS);
  }

  private async mark(): Promise<void> {
    const round = ++this.rounds;
    for (const shared of [...this.squiggles.texts()]) {
      const text = shared.getSource();
      const found: Squiggle[] = [];
      for (const view of this.views) found.push(...(await this.of(view, shared, text)));
      if (round !== this.rounds) return;
      this.squiggles.show(shared, once(found));
    }
  }

  private async of(view: View, shared: SharedText, text: string): Promise<Squiggle[]> {
    const marks = this.settings.squiggles ? view.marks() : [];
    if (marks.length === 0) return [];
    const file = await this.matching.fileIn(view, shared, text);
    if (file === null || file === undefined || !this.isOfThatRun(view, shared, file)) return [];
    return marks.flatMap((mark) => {
      const range = mark.file === file ? rangeOf(text, mark) : null;
      if (!range) return [];
      const { fix } = mark;
      return [{ ...range, mark, fix: fix ? () => view.write(fix.number) : null }];
    });
  }

  /** Whether a cell has not run again since; a file does not say when it ran. */
  private isOfThatRun(view: View, shared: SharedText, file: number): boolean {
    const where = this.documents.where(shared);
    const source = view.sources()[file];
    if (!where || !source || !("cell" in where)) return true;
    return where.cell.model.executionCount === countOf(source);
  }
}

/** Two views of one program say the same. */
function once(found: readonly Squiggle[]): Squiggle[] {
  const known = new Map(found.map((each) => [`${each.from} ${each.to} ${each.mark.title}`, each]));
  return [...known.values()].toSorted((a, b) => a.from - b.from || a.to - b.to);
}

/** A mark's range in an editor's text; null if it has no such line. Pure. */
export function rangeOf(
  text: string,
  { line, columns }: Mark,
): { from: number; to: number } | null {
  const { lines, indent } = linesAsRun(text);
  const at = lines[line - 1];
  if (!at) return null;
  const starts = lineStarts(text);
  const start = starts[at.first - 1] ?? 0;
  const end = (starts[at.first] ?? text.length + 1) - 1;
  const whole = text.slice(start, end);
  const [left, right] = columns ?? [0, Number.POSITIVE_INFINITY];
  const from = Math.min(start + indent.length + left, end);
  const to = Math.min(start + indent.length + right, end);
  if (columns && from < to) return { from, to };
  const [blank] = /^\s*/.exec(whole) ?? [""];
  return blank.length < whole.length ? { from: start + blank.length, to: end } : null;
}
