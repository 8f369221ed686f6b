/**
 * All state of one widget in one place, as signals: the selection and open panes, and what the
 * kernel reports. Panes read signals and call actions.
 */

import { batch, computed, type ReadonlySignal, type Signal, signal } from "@preact/signals";
import { type Arrangement, Comparison } from "./compare/comparison";
import { type CostAt, CostModel, exampleValues } from "./cost";
import { costs } from "./decorations/cost";
import type { Decoration } from "./decorations/decoration";
import { delegationName, takeName } from "./decorations/delegation";
import { KERNELS } from "./decorations/kernels";
import { LINE } from "./decorations/lines";
import { colourings, decorationsOf } from "./decorations/registry";
import { Refused, reasonOf } from "./format";
import type {
  Asks,
  AttemptHead,
  Host,
  Progress,
  RunRequest,
  SetState,
  Setups,
  TokenLine,
} from "./host";
import type {
  OtherProgram,
  Release,
  ReproducedScript,
  StagesRequest,
  TensorRequest,
} from "./messages.gen";
import { type NodeId, nodeId, Program } from "./program";
import type { TensorSlice } from "./record.gen";
import { type Lit, litBy, type Place } from "./selection";
import { firstTab } from "./tab_status";
import { writtenFiles } from "./user_frames";
import { selectionOf } from "./view_in_python";
import { type Opened, ViewState } from "./view_state";
import { decode } from "./wire";

/** The most files of ops that are requested before a long action of the kernel. */
const MOST_FILES = 8;

export type Status = { kind: "loading" } | { kind: "ready" } | { kind: "error"; message: string };

/** An action that the kernel is at, and how far it is. */
export interface Working {
  /** `Applying: Let seq be at most 16`. */
  what: string;
  /** By the clock of `performance.now()`. */
  since: number;
  progress: Progress | null;
}

/** Actions on the graph from outside its pane. */
export interface GraphOfView {
  readonly folding: { fit(): void; expandAll(): Promise<void>; collapseAll(): Promise<void> };
  readonly highlights: { togglePath(): void };
  readonly parameters: Signal<boolean>;
  readonly stage: { zoomBy(factor: number): void };
  zoomToSelection(): void;
}

/** Actions of a view in the editor of its page. The view shows a refusal. */
export interface EditorOfView {
  open(place: Place): Promise<void>;
  /**
   * Writes what the attempt on screen changed, with some fixes of it, once a diff is accepted; null
   * in a page without a kernel.
   */
  readonly write: ((fixes: readonly number[]) => Promise<void>) | null;
}

export class Store extends ViewState {
  readonly attempts: Signal<readonly AttemptHead[]>;
  /** The verdict on the attempt on screen; null until it is known. */
  readonly release: ReadonlySignal<Release | null>;
  /** Its name in Python. */
  readonly named: ReadonlySignal<string>;
  /** The set of programs that the attempts are of; null where they are of one program. */
  readonly programs: Signal<SetState | null>;
  /** The seam that was clicked: its tensors are lit in both programs; -1 for none. */
  readonly seam: Signal<number> = signal(-1);
  /** The attempt on screen, and so the one that an action is about. */
  readonly current: Signal<number>;
  /** The attempt whose Record is on its way; -1 for none. */
  readonly coming: Signal<number> = signal(-1);
  readonly status: Signal<Status> = signal({ kind: "loading" });
  readonly program: Signal<Program | null> = signal(null);
  /** The kernel's current attempt; a different one may be on screen. */
  readonly held: Signal<number>;
  readonly working: Signal<Working | null> = signal(null);
  /** How many seconds each action took when it was last done here, by its name. */
  readonly took: Signal<ReadonlyMap<string, number>> = signal(new Map());
  /** How the last action ended, in a sentence; empty if the view itself shows it. */
  readonly ended: Signal<string> = signal("");
  /** Whether the last action came to nothing; `ended` says why. */
  readonly refused: Signal<boolean> = signal(false);
  /** Where Export Explorer itself failed: what to send; else empty. */
  readonly report: Signal<string> = signal("");
  /** The editor of the page that the view is in; null if there is none. */
  readonly editor: Signal<EditorOfView | null> = signal(null);
  /** The program that the one on screen is compared with; null if none. */
  readonly comparison: Signal<Comparison | null> = signal(null);
  /** How the graphs of a comparison are shown, and whether without all that is the same. */
  readonly arrangement: Signal<Arrangement> = signal("beside");
  readonly onlyDifferent: Signal<boolean> = signal(false);
  /** Whether the Inspector shows how to decompose the program. */
  readonly decomposing: Signal<boolean> = signal(false);
  /** The graph on the page; null where none is drawn. */
  readonly graph: Signal<GraphOfView | null> = signal(null);
  /** The matches of the query in the search box, highlighted while nothing is selected. */
  readonly found: Signal<readonly NodeId[]> = signal([]);
  readonly lit: ReadonlySignal<Lit>;
  /** The cost formulas of the program on screen; null until a pane requests them. */
  readonly costModel: Signal<CostModel | null> = signal(null);
  /** The sizes that are tried: a value for each symbol of the Record. */
  readonly sizes: Signal<readonly number[]> = signal([]);
  /** The cost at these sizes; null if it is not known, or a formula has no value there. */
  readonly costAt: ReadonlySignal<CostAt | null>;
  /** The decorations of the program on screen, for every pane. */
  readonly decorations: ReadonlySignal<readonly Decoration[]>;
  /** The one of them that colours all ops; null for none. */
  readonly colouring: ReadonlySignal<Decoration | null>;
  /** The state of a lost kernel; empty while it answers. */
  readonly lost: Signal<string>;
  /** Whether no action can be begun now. */
  readonly busy: ReadonlySignal<boolean>;
  /** Counts requests to show something: an outdated answer changes nothing. */
  private asked = 0;
  /** The attempt and the revision of the last requested Record. */
  private wanted = { attempt: -1, revision: -1 };
  private arriving: Promise<void> = Promise.resolve();
  private readonly fetched = new Map<string, Promise<unknown>>();
  /** The names of the symbols that `sizes` are of. */
  private sizesOf = "";
  private readonly stop: () => void;

  constructor(readonly host: Host) {
    super();
    this.attempts = signal(host.attempts);
    this.programs = signal(host.programs ?? null);
    this.current = signal(host.current);
    this.held = signal(host.current);
    this.lost = signal(host.lost);
    this.release = computed(() => this.attempts.value[this.current.value]?.release ?? null);
    this.named = computed(() => this.attempts.value[this.current.value]?.name || "ex");
    this.busy = computed(() => this.working.value !== null || this.lost.value !== "");
    const byLine = computed(() => (this.chosen.value === LINE ? LINE : null));
    this.costAt = computed(() => {
      try {
        return this.costModel.value?.at(this.sizes.value) ?? null;
      } catch {
        return null; // a division by zero, which the program's own size would be, too
      }
    });
    const found = computed(() => {
      const program = this.program.value;
      return program ? decorationsOf(program, this.comparison.value?.merged, byLine.value) : [];
    });
    this.decorations = computed(() => {
      const [model, at] = [this.costModel.value, this.costAt.value];
      return model && at ? [...found.value, ...costs(model, at)] : found.value;
    });
    this.colouring = computed(() => {
      const chosen = this.chosen.value;
      const all = colourings(this.decorations.value);
      return all.find(({ name }) => chosen === null || name === chosen) ?? null;
    });
    this.lit = computed(() => {
      const nodes = this.found.value;
      const selection = this.selection.value;
      const asked = selection.kind === "none" && nodes.length > 0;
      return litBy(this.program.value, asked ? { kind: "nodes", nodes } : selection);
    });
    const stops = [
      host.onChange(() => {
        const moved = this.held.peek() !== host.current;
        batch(() => {
          this.attempts.value = host.attempts;
          this.programs.value = host.programs ?? null;
          this.held.value = host.current;
          this.lost.value = host.lost;
        });
        if (moved || !this.program.peek()) void this.show(host.current);
        else if (this.isBehind()) void this.show(this.wanted.attempt);
      }),
      host.onProgress((progress) => {
        const working = this.working.peek();
        if (working) this.working.value = { ...working, progress };
      }),
    ];
    this.stop = () => {
      for (const stop of stops) stop();
    };
  }

  /** Applies fixes of the attempt on screen, by their numbers. */
  apply(fixes: readonly number[], what: string): Promise<void> {
    const attempt = this.current.peek();
    return this.act(what, async () => {
      const reply = await this.host.ask("apply", { attempt, fixes: [...fixes] });
      await this.show(reply.attempt);
    });
  }

  /** Lets the kernel apply lossless fixes until the export succeeds or none is left. */
  autofix(): Promise<void> {
    const attempt = this.current.peek();
    return this.occupy("Fixing", async () => {
      const reply = await this.host.ask("autofix", { attempt });
      await this.show(reply.attempt);
      // Where it exports now, the view says by which fixes and whether it is right.
      if (this.program.peek()?.record.outcome !== "exported") this.ended.value = reply.report;
    });
  }

  /** Makes a short script that fails as the attempt on screen does; null where none was made. */
  async reproduce(): Promise<ReproducedScript | null> {
    const attempt = this.current.peek();
    let found: ReproducedScript | null = null;
    await this.occupy("Reproducing", async () => {
      found = await this.host.ask("reproduce", { attempt });
    });
    return found;
  }

  /** What an attempt is called wherever it is chosen: by its step, or by its number. */
  nameOf(attempt: number): string {
    const head = this.attempts.value[attempt];
    return head?.step || `Attempt ${attempt + 1}, ${head?.label ?? ""}`;
  }

  /** The program of the set on screen, by its number; -1 if there is no set. */
  shownComponent(): number {
    const label = this.attempts.value[this.current.value]?.label;
    return this.programs.value?.set.components.findIndex((each) => each.name === label) ?? -1;
  }

  /** Shows a program of the set, as its attempt is now. */
  showComponent(component: number): Promise<void> {
    const attempt = this.programs.peek()?.attempts[component] ?? -1;
    return attempt < 0 ? Promise.resolve() : this.show(attempt);
  }

  /** Lights a seam's tensors, in the program on screen and in the other once that is shown. */
  showSeam(seam: number): void {
    this.seam.value = seam;
    if (seam < 0) this.clear();
    else this.lightSeam();
  }

  /** Selects the tensors of the chosen connection that the program on screen returns or accepts. */
  private lightSeam(): void {
    const seam = this.programs.peek()?.set.seams[this.seam.peek()];
    const shown = this.shownComponent();
    if (!seam) return;
    const nodes = seam.flows.flatMap((flow) => [
      ...(seam.source === shown ? [nodeId(0, flow.source_node)] : []),
      ...(seam.target === shown ? [nodeId(0, flow.target_node)] : []),
    ]);
    if (nodes.length > 0) this.select({ kind: "nodes", nodes: [...new Set(nodes)] }, "inspector");
  }

  /** Shows the op of a finding between programs, in its program. */
  async showBetween(component: number, node: number): Promise<void> {
    await this.showComponent(component);
    if (node >= 0) this.select({ kind: "nodes", nodes: [nodeId(0, node)] }, "inspector");
  }

  /** Generates with the programs of the set by a backend, and compares with the model. */
  generate(backend: string): Promise<void> {
    return this.occupy("Generating", async () => {
      const reply = await this.host.ask("generate", { backend });
      this.ended.value = reply.sentence;
    });
  }

  /** Compares the program on screen with that of another attempt. */
  compare(other: number): Promise<void> {
    const attempt = this.current.peek();
    return this.act("Comparing", async () => {
      const [diff, record] = await Promise.all([
        this.host.ask("diff", { attempt, other }),
        this.host.ask("record", { attempt: other }),
      ]);
      batch(() => {
        const after = this.program.peek();
        if (!after || this.current.peek() !== attempt) return;
        this.comparison.value = new Comparison(other, new Program(decode(record)), after, diff);
        this.clear();
        this.open("differences");
      });
    });
  }

  /** Programs of the kernel, and files, that the one on screen can be compared with. */
  others(): Promise<OtherProgram[]> {
    const asked = this.host.ask("others", { attempt: this.current.peek() });
    return asked.then(({ programs }) => programs);
  }

  /** Opens another program, and compares that on screen with it. */
  async compareWith(program: OtherProgram): Promise<void> {
    const attempt = this.current.peek();
    let other = -1;
    await this.act(`Opening ${program.name}`, async () => {
      other = (await this.host.ask("beside", { attempt, program })).attempt;
    });
    if (other >= 0 && this.current.peek() === attempt) await this.compare(other);
  }

  /** Shows the program on screen alone again. */
  stopComparing(): void {
    batch(() => {
      this.comparison.value = null;
      if (this.selection.peek().kind === "removed") this.clear();
      if (this.facts.peek() === "differences") this.open("inspector");
    });
  }

  /** Trusts the file on screen: the kernel makes its program. */
  trust(): Promise<void> {
    const attempt = this.current.peek();
    return this.act("Loading the program", async () => {
      await this.host.ask("trust", { attempt });
      await this.renew(attempt);
    });
  }

  /** Checks the guarantees of the attempt on screen, comparing with eager at so many sizes. */
  verify(sizes: number): Promise<void> {
    const attempt = this.current.peek();
    return this.occupy("Verifying", async () => {
      await this.host.ask("verify", { attempt, sizes });
      await this.renew(attempt);
    });
  }

  /** Runs the program on screen and compares with eager. */
  run(device: string, backends: readonly string[], sizes: RunRequest["sizes"]): Promise<void> {
    const attempt = this.current.peek();
    return this.occupy("Running", async () => {
      const asked = { attempt, device, backends: [...backends], sizes };
      const reply = await this.host.ask("run", asked);
      await this.renew(attempt);
      this.ended.value = reply.sentence;
    });
  }

  /** Measures the ops of the program on screen, and colours the graph by it. */
  profile(device: string, sizes: RunRequest["sizes"]): Promise<void> {
    const attempt = this.current.peek();
    return this.occupy("Profiling", async () => {
      await this.host.ask("profile", { attempt, device, sizes });
      await this.renew(attempt);
      if (!this.colouring.peek()?.measure) this.chosen.value = null;
    });
  }

  /** Compiles the program on screen, times its kernels, and colours the graph by them. */
  stages(backend: string, device: string, options: StagesRequest["options"]): Promise<void> {
    const attempt = this.current.peek();
    const what = backend === "onnx" ? "Converting" : "Compiling";
    return this.occupy(what, async () => {
      await this.host.ask("stages", { attempt, backend, device, options });
      await this.renew(attempt);
      this.forgetStages();
      this.chosen.value = KERNELS;
    });
  }

  /** Lowers a copy of the program on screen for a backend, and colours the graph by what it takes. */
  delegate(backend: string, measure: boolean): Promise<void> {
    const attempt = this.current.peek();
    return this.occupy("Lowering", async () => {
      await this.host.ask("delegate", { attempt, backend, measure });
      await this.renew(attempt);
      this.chosen.value = delegationName(backend);
    });
  }

  /** Asks every delegation backend which ops of the program on screen it can take. */
  canTake(): Promise<void> {
    const attempt = this.current.peek();
    return this.occupy("Asking backends", async () => {
      await this.host.ask("can_take", { attempt });
      await this.renew(attempt);
      const [first] = this.program.peek()?.record.op_table?.answers ?? [];
      if (first) this.chosen.value = takeName(first.backend);
    });
  }

  /** Tries rewrites that bring ops of the program on screen into a delegate. */
  findDelegationFixes(backend: string): Promise<void> {
    const attempt = this.current.peek();
    return this.occupy("Trying rewrites", async () => {
      await this.host.ask("delegation_fixes", { attempt, backend, measure: false });
      await this.renew(attempt);
    });
  }

  /** Rewrites ops that a delegate leaves, by one kind, or by all that are lossless and gain. */
  fixDelegation(backend: string, kinds: string): Promise<void> {
    const attempt = this.current.peek();
    return this.occupy(kinds ? "Rewriting" : "Fixing the delegation", async () => {
      const reply = await this.host.ask("fix_delegation", {
        attempt,
        backend,
        kinds,
        measure: false,
      });
      await this.show(reply.attempt);
      this.chosen.value = delegationName(backend);
      this.ended.value = reply.report;
    });
  }

  /** The attempt that shows what a backend lowered the one on screen to; -1 for none. */
  delegatedStage(title: string): number {
    const [attempt, step] = [this.current.value, `Lowered for ${title}`];
    return this.attempts.value.findIndex((each) => each.parent === attempt && each.step === step);
  }

  /** Runs the program on screen op by op, and records the output of every op. */
  watch(): Promise<void> {
    const attempt = this.current.peek();
    return this.occupy("Watching a run", async () => {
      await this.host.ask("watch", { attempt, device: "cpu", sizes: null });
      await this.renew(attempt);
      this.chosen.value = "magnitude";
    });
  }

  /** Holds a run of the program on screen against another. */
  compareValues(other: string): Promise<void> {
    const attempt = this.current.peek();
    return this.occupy("Comparing values", async () => {
      await this.host.ask("against", { attempt, other });
      await this.renew(attempt);
      this.chosen.value = "error";
    });
  }

  /** A part of what an op gave. Rejects with a sentence. */
  tensor(request: Omit<TensorRequest, "attempt">): Promise<TensorSlice> {
    return this.host.ask("tensor", { attempt: this.current.peek(), ...request });
  }

  /** The backends of the kernel's machine. Rejects with a sentence. */
  setups(): Promise<Setups> {
    return this.once("setups", { attempt: this.current.peek() });
  }

  /** Decomposes the program on screen and shows the result. */
  decompose(table: string): Promise<void> {
    const attempt = this.current.peek();
    return this.occupy(`Decomposing: ${table}`, async () => {
      const reply = await this.host.ask("decompose", { attempt, table });
      await this.show(reply.attempt);
      this.tellOfAnother("the decomposed program");
    });
  }

  /**
   * Exports the call on screen with its shapes in the other form, and reports how both forms
   * differ; null if it failed.
   */
  async contracts(): Promise<Asks["contracts"]["reply"] | null> {
    const attempt = this.current.peek();
    const form = this.program.peek()?.record.other_form;
    const found: Asks["contracts"]["reply"][] = [];
    await this.occupy(`Exporting with ${form === "Dims" ? "Dims" : "a ShapesSpec"}`, async () => {
      found.push(await this.host.ask("contracts", { attempt }));
    });
    return found[0] ?? null;
  }

  /** Makes an attempt the kernel's current one. */
  use(attempt: number): Promise<void> {
    return this.act("Going back", async () => {
      await this.host.ask("use", { attempt });
      await this.show(attempt);
      this.tellOfAnother(`attempt ${attempt + 1}`);
    });
  }

  /** Says that the user's variable stands for another attempt than before. */
  private tellOfAnother(what: string): void {
    const { name, outcome } = this.attempts.peek()[this.current.peek()] ?? {};
    if (name && outcome === "exported") {
      this.ended.value = `${name} is now ${what}. Use History to go back.`;
    }
  }

  /** Says how something went that the kernel did not do; empty if it shows. */
  say(sentence: string, refused: boolean): void {
    batch(() => {
      this.ended.value = sentence;
      this.refused.value = refused;
      this.report.value = "";
    });
  }

  /** Asks for the formulas of what the program on screen costs. Rejects with a sentence. */
  async askCost(): Promise<CostModel> {
    const program = this.program.peek();
    const known = this.costModel.peek();
    if (known && known.program === program) return known;
    const table = await this.once("cost", { attempt: this.current.peek() });
    if (!program) throw new Error("There is no program.");
    const model = new CostModel(program, table);
    if (this.program.peek() === program) this.costModel.value = model;
    return model;
  }

  /** Tries a value of a symbol. */
  trySize(symbol: number, value: number): void {
    this.sizes.value = this.sizes.peek().map((size, at) => (at === symbol ? value : size));
  }

  /** An action that keeps the kernel busy for seconds: panes get their data before it. */
  private occupy(what: string, action: () => Promise<void>): Promise<void> {
    if (!this.busy.peek()) this.askAhead();
    return this.act(what, action);
  }

  /** Asks for all that the panes of the program on screen show. A pane says why one is refused. */
  private askAhead(): void {
    const program = this.program.peek();
    if (!program || !this.host.live) return;
    const files = writtenFiles(program).slice(0, MOST_FILES);
    const asked: Promise<unknown>[] = files.map(([file]) => this.source(file));
    const isProgram = program.record.graphs.length > 0 && !program.record.failure;
    const cost = { attempt: this.current.peek() };
    if (isProgram) asked.push(this.code(0), this.setups(), this.once("cost", cost));
    for (const each of asked) each.catch(() => {});
  }

  /** One action at a time; a refusal is shown, and nothing else changes. */
  private async act(what: string, action: () => Promise<void>): Promise<void> {
    if (this.busy.peek()) return;
    const since = performance.now();
    batch(() => {
      this.working.value = { what, since, progress: null };
      this.ended.value = "";
      this.refused.value = false;
      this.report.value = "";
    });
    try {
      await action();
    } catch (error) {
      this.ended.value = reasonOf(error);
      this.refused.value = true;
      this.report.value = error instanceof Refused ? error.report : "";
    } finally {
      this.working.value = null;
    }
    const seconds = (performance.now() - since) / 1000;
    if (!this.refused.peek()) this.took.value = new Map([...this.took.peek(), [what, seconds]]);
  }

  /**
   * Fetches an attempt's Record and shows it; the current one stays on screen until it arrives. A
   * Record that is on screen or already requested is not fetched again.
   */
  show(attempt: number): Promise<void> {
    const revision = this.revisionOf(attempt);
    const { wanted } = this;
    const known = attempt === wanted.attempt && revision === wanted.revision && revision >= 0;
    if (!known) {
      this.wanted = { attempt, revision };
      this.arriving = this.fetch(attempt);
    }
    return this.arriving;
  }

  /** Shows what is known of an attempt now, unless another one was chosen meanwhile. */
  private async renew(attempt: number): Promise<void> {
    if (this.wanted.attempt < 0 || this.wanted.attempt === attempt) await this.show(attempt);
  }

  private async fetch(attempt: number): Promise<void> {
    const ticket = ++this.asked;
    this.coming.value = attempt;
    try {
      const program = new Program(decode(await this.host.ask("record", { attempt })));
      if (ticket === this.asked) this.put(attempt, program);
    } catch (error) {
      if (ticket !== this.asked) return; // a newer request wins
      this.wanted = { attempt: -1, revision: -1 };
      this.status.value = { kind: "error", message: reasonOf(error) };
    } finally {
      if (ticket === this.asked) this.coming.value = -1;
    }
  }

  /** Puts a program on screen. */
  private put(attempt: number, program: Program): void {
    // The same graph, of which more is known now: what is selected and open stays so.
    const first = this.program.peek() === null;
    const again = !first && attempt === this.current.peek();
    batch(() => {
      this.program.value = program;
      this.current.value = attempt;
      const symbols = JSON.stringify(program.record.symbols.map(({ name }) => name));
      if (symbols !== this.sizesOf || !again) this.sizes.value = exampleValues(program);
      this.sizesOf = symbols;
      const model = this.costModel.peek();
      if (model) this.costModel.value = again ? new CostModel(program, model.table) : null;
      this.comparison.value = (again && this.comparison.peek()?.with(program)) || null;
      if (!this.comparison.peek()) this.stopComparing();
      this.hovered.value = null;
      if (!again) {
        this.forget();
        this.forgetStages();
      }
      if (first) this.lookFirst(program);
      if (!again && this.seam.peek() >= 0) this.lightSeam();
      this.status.value = { kind: "ready" };
    });
  }

  /** Shows what a line of Python requests, or else the result of the command. */
  private lookFirst(program: Program): void {
    const { select = [], open = [], tab = [] } = this.host.first ?? {};
    const [asked = firstTab(program.record)] = tab as Opened[];
    this.open(asked === "teaching" ? "source" : asked);
    this.teaching.value = asked === "teaching";
    this.toOpen.value = open;
    this.selection.value = selectionOf(program, select);
  }

  /** Whether there is newer data on the attempt that is on screen or loading. */
  private isBehind(): boolean {
    const { attempt, revision } = this.wanted;
    return attempt >= 0 && this.revisionOf(attempt) > revision;
  }

  /** The revision of an attempt; -1 if the host does not report it. */
  private revisionOf(attempt: number): number {
    return this.host.attempts[attempt]?.revision ?? -1;
  }

  /** The coloured text of a file. Rejects with a sentence. */
  source(file: number): Promise<TokenLine[]> {
    const attempt = this.current.peek();
    return this.once("source", { attempt, file }).then((reply) => reply.lines);
  }

  /** A graph as text, and the node of each line. Rejects with a sentence. */
  code(graph: number): Promise<Asks["code"]["reply"]> {
    return this.once("code", { attempt: this.current.peek(), graph });
  }

  /** Asks the host, or returns its earlier answer; a refused request may be repeated. */
  private once<K extends "source" | "code" | "cost" | "setups">(
    kind: K,
    request: Asks[K]["request"],
  ): Promise<Asks[K]["reply"]> {
    const key = `${kind} ${JSON.stringify(request)}`;
    let answer = this.fetched.get(key) as Promise<Asks[K]["reply"]> | undefined;
    if (!answer) {
      answer = this.host.ask(kind, request);
      this.fetched.set(key, answer);
      answer.catch(() => this.fetched.delete(key));
    }
    return answer;
  }

  dispose(): void {
    this.stop();
  }
}
