/** The state of the browser of ExportDB and graph breaks, as signals. */

import { batch, computed, type ReadonlySignal, type Signal, signal } from "@preact/signals";
import { reasonOf } from "../format";
import type { ExportCase, GraphBreakPage } from "../record.gen";
import type { Working } from "../store";
import type { LibraryHost, Lookout, Section } from "./asks";
import { find } from "./find";

/** Why a text could not be exported, and the line that it is about; 0: none. */
export interface Problem {
  sentence: string;
  line: number;
}

/** A text that was exported. */
export interface Tried {
  /** How many were, with this one. */
  count: number;
  name: string;
  source: string;
  lookouts: readonly Lookout[];
}

export class LibraryStore {
  readonly section: Signal<Section>;
  /** The search text of each section. */
  readonly query: { readonly [section in Section]: Signal<string> };
  /** The name of what is open in each section; empty for none. */
  readonly opened: { readonly [section in Section]: Signal<string> };
  readonly tag = signal("");
  readonly level = signal("");
  readonly torch = signal("");
  readonly cases: Signal<readonly ExportCase[] | null> = signal(null);
  readonly pages: Signal<readonly GraphBreakPage[] | null> = signal(null);
  /** Why the library is not to be had; empty if it is, or is on its way. */
  readonly refused = signal("");
  /** Texts that were edited, by the name of their case. */
  readonly edited: Signal<ReadonlyMap<string, string>> = signal(new Map());
  readonly problem: Signal<Problem | null> = signal(null);
  readonly working: Signal<Working | null> = signal(null);
  /** How many texts were exported; the name and the text of the last, where this page knows it. */
  readonly tried: Signal<Tried>;
  readonly foundCases: ReadonlySignal<readonly ExportCase[]>;
  readonly foundPages: ReadonlySignal<readonly GraphBreakPage[]>;
  private readonly stop: () => void;

  constructor(readonly host: LibraryHost) {
    const first = (section: Section): string => (host.section === section ? host.query : "");
    this.section = signal(host.section);
    this.query = { cases: signal(first("cases")), breaks: signal(first("breaks")) };
    this.tried = signal({
      count: host.attempts.length > 0 ? 1 : 0,
      name: "",
      source: "",
      lookouts: [],
    });
    this.opened = { cases: signal(""), breaks: signal("") };
    this.foundCases = computed(() =>
      find(this.cases.value ?? [], this.query.cases.value, caseTexts).filter(
        ({ tags, level }) =>
          (!this.tag.value || tags.includes(this.tag.value)) &&
          (!this.level.value || level === this.level.value),
      ),
    );
    this.foundPages = computed(() =>
      find(this.pages.value ?? [], this.query.breaks.value, pageTexts),
    );
    this.stop = host.onProgress((progress) => {
      const working = this.working.peek();
      if (working) this.working.value = { ...working, progress };
    });
  }

  /** Fetches what a section lists, once, and opens what its query names. */
  async load(section: Section): Promise<void> {
    if ((section === "cases" ? this.cases : this.pages).peek()) return;
    try {
      if (section === "cases") {
        const { cases, torch } = await this.host.look("cases", {});
        batch(() => {
          this.torch.value = torch;
          this.cases.value = cases;
          this.openNamed();
        });
      } else {
        this.pages.value = (await this.host.look("breaks", {})).pages;
        const [only, ...others] = this.foundPages.peek();
        if (only && others.length === 0) this.opened.breaks.value = only.name;
      }
      this.refused.value = "";
    } catch (error) {
      this.refused.value = reasonOf(error);
    }
  }

  /** The text of a case in the editor. */
  text(found: ExportCase): string {
    return this.edited.value.get(found.name) ?? found.source;
  }

  edit(found: ExportCase, text: string): void {
    const next = new Map(this.edited.peek());
    if (text === found.source) next.delete(found.name);
    else next.set(found.name, text);
    batch(() => {
      this.edited.value = next;
      this.problem.value = null;
    });
  }

  open(section: Section, name: string): void {
    batch(() => {
      this.section.value = section;
      this.opened[section].value = name;
      this.problem.value = null;
    });
  }

  /** Shows the cases of a tag, and no others. */
  showTag(tag: string): void {
    batch(() => {
      this.tag.value = tag;
      this.level.value = "";
      this.query.cases.value = "";
    });
  }

  clear(section: Section): void {
    batch(() => {
      this.query[section].value = "";
      this.tag.value = "";
      this.level.value = "";
    });
  }

  /** Exports the edited text of a case in both modes, and shows its view. */
  async try(found: ExportCase): Promise<void> {
    if (this.working.peek()) return;
    const { name } = found;
    const source = this.text(found);
    batch(() => {
      this.problem.value = null;
      this.working.value = { what: `Exporting ${name}`, since: performance.now(), progress: null };
    });
    try {
      const { problem, line, lookouts } = await this.host.look("try", { name, source });
      if (problem) this.problem.value = { sentence: problem, line };
      else this.tried.value = { count: this.tried.peek().count + 1, name, source, lookouts };
    } catch (error) {
      const sentence = reasonOf(error);
      this.problem.value = { sentence, line: 0 };
    } finally {
      this.working.value = null;
    }
  }

  dispose(): void {
    this.stop();
  }

  /** The query that opened the browser may be a tag, or name a case. */
  private openNamed(): void {
    const query = this.query.cases.peek().trim();
    const cases = this.cases.peek() ?? [];
    if (cases.some(({ name }) => name === query)) {
      this.opened.cases.value = query;
      this.query.cases.value = "";
    } else if (cases.some(({ tags }) => tags.includes(query))) this.showTag(query);
    const [only, ...others] = this.foundCases.peek();
    if (only && others.length === 0) this.opened.cases.value = only.name;
  }
}

function caseTexts(found: ExportCase): string[] {
  return [
    `${found.name} ${found.name.replaceAll("_", " ")} ${found.title}`,
    [...found.tags, found.level].join(" "),
    `${found.description} ${found.explains.join(" ")}`,
    found.source,
  ];
}

function pageTexts(page: GraphBreakPage): string[] {
  return [`${page.name} ${page.title}`, [...page.explanations, ...page.hints].join(" ")];
}
