// Generated from explorer/page/messages.py by `make types`. Its comments are there.

import type { ExportCase, GraphBreakPage, ProgramDiff, ProgramSet, TensorSlice, TextDiff } from "./record.gen";

export interface ReleaseItem {
  name: string;
  state: "bad" | "good" | "none" | "open";
  sentence: string;
  command: string;
  words: string;
  count: string;
  tried: string;
}

export interface Release {
  verdict: "not ready" | "open" | "ready";
  sentence: string;
  items: ReleaseItem[];
  sign: "bad" | "good" | "none" | "open";
  doubted: string[];
}

export interface AttemptHead {
  label: string;
  outcome: "exported" | "failed";
  verdict: string;
  parent: number;
  step: string;
  revision: number;
  untrusted: boolean;
  release: Release | null;
  name: string;
}

export type Token = [cls: string, text: string];

export interface Code {
  lines: Token[][];
  nodes: number[];
}

export interface CodeText {
  lines: Token[][];
  code: string;
  title: string;
  means: string;
  cure: string;
  why: string;
}

export interface GeneratingBackend {
  name: string;
  title: string;
  missing: string | null;
}

export interface SetState {
  set: ProgramSet;
  attempts: number[];
  backends: GeneratingBackend[];
}

export interface AmountTable {
  starts: number[];
  products: number[];
  scales: number[];
}

export interface DeviceRow {
  name: string;
  flops: number;
  bandwidth: number;
  memory: number;
}

export interface CostTable {
  factors: ((number | string)[])[];
  products: number[][];
  nodes: number[];
  unknown: number[];
  flops: AmountTable;
  read: AmountTable;
  written: AmountTable;
  makers: number[];
  lasts: number[];
  held: AmountTable;
  scratch: AmountTable;
  inputs: AmountTable;
  parameters: number;
  weights: number;
  devices: DeviceRow[];
}

export interface Frozen {
  attempts: AttemptHead[];
  current: number;
  compared: number;
  records: string[];
  sources: ((Token[][] | null)[])[];
  codes: Code[][];
  diffs: ((ProgramDiff | null)[])[];
  texts: ((TextDiff[] | null)[])[];
  pages: { [key: string]: CodeText };
  programs: SetState | null;
  costs: (CostTable | null)[];
}

export interface OfAttempt {
  attempt: number;
}

export interface OfFile {
  attempt: number;
  file: number;
}

export interface OfGraph {
  attempt: number;
  graph: number;
}

export interface OfPair {
  attempt: number;
  other: number;
}

export interface ByName {
  name: string;
}

export interface OtherProgram {
  name: string;
  where: "file" | "kernel";
  model: string;
  title: string;
}

export interface OtherChoice {
  attempt: number;
  program: OtherProgram;
}

export interface FixChoice {
  attempt: number;
  fixes: number[];
}

export interface SizeCount {
  attempt: number;
  sizes: number;
}

export interface RunRequest {
  attempt: number;
  device: string;
  sizes: { [key: string]: number } | null;
  backends: string[];
}

export interface ProfileRequest {
  attempt: number;
  device: string;
  sizes: { [key: string]: number } | null;
}

export interface StagesRequest {
  attempt: number;
  backend: string;
  device: string;
  options: { [key: string]: boolean };
}

export interface DelegateRequest {
  attempt: number;
  backend: string;
  measure: boolean;
}

export interface DelegationFixChoice {
  attempt: number;
  backend: string;
  measure: boolean;
  kinds: string;
}

export interface ValuesAgainst {
  attempt: number;
  other: string;
}

export interface TensorRequest {
  attempt: number;
  graph: number;
  node: number;
  side: "difference" | "one" | "other";
  rows: number;
  columns: number;
  index: number[];
  cell: number[];
}

export interface TableChoice {
  attempt: number;
  table: string;
}

export interface GenerateRequest {
  backend: string;
}

export interface Nothing {
}

export interface CaseText {
  source: string;
}

export interface CaseTrial {
  source: string;
  name: string;
}

export interface GuideChoice {
  number: number;
}

export interface Lines {
  lines: Token[][];
}

export interface Ops {
  ops: string[];
}

export interface BackendHere {
  name: string;
  title: string;
  missing: (string | null)[];
  without_values: string | null;
}

export interface DelegateHere {
  name: string;
  title: string;
  missing: string | null;
}

export interface Setups {
  devices: string[];
  backends: BackendHere[];
  delegates: DelegateHere[];
}

export interface CasePage {
  lines: Token[][];
  case: ExportCase;
}

export interface BreakPage {
  page: GraphBreakPage;
}

export interface OtherPrograms {
  programs: OtherProgram[];
}

export interface NewAttempt {
  attempt: number;
}

export interface Hunk {
  first: number;
  count: number;
  lines: string[];
}

export interface CodeChange {
  path: string;
  name: string;
  origin: "cell" | "generated" | "library" | "torch" | "user";
  before: string;
  hunks: Hunk[];
}

export interface Writing {
  changes: CodeChange[];
  shapes: string;
  cell: string;
  call: string;
  others: string[];
}

export interface Autofixed {
  attempt: number;
  report: string;
}

export interface ReproducedScript {
  lines: Token[][];
  sentence: string;
  script: string;
  issue: string;
}

export interface Sentence {
  sentence: string;
}

export interface ContractsCompared {
  attempt: number;
  exported: boolean;
  lines: string[];
}

export interface CaseList {
  cases: ExportCase[];
  torch: string;
}

export interface BreakList {
  pages: GraphBreakPage[];
}

export interface CaseTried {
  problem: string;
  line: number;
  lookouts: [string, string][];
}

export interface Asks {
  /** The bytes of a Record, for `wire.decode`. */
  record: { request: OfAttempt; reply: DataView };
  /** The text of a source file of the Record. */
  source: { request: OfFile; reply: Lines };
  /** A graph as torch prints it. */
  code: { request: OfGraph; reply: Code };
  /** The cost of a program, as formulas of its sizes. */
  cost: { request: OfAttempt; reply: CostTable };
  /** The ops that torch's default table decomposes. */
  decomposable: { request: OfAttempt; reply: Ops };
  /** How the programs of two attempts differ. */
  diff: { request: OfPair; reply: ProgramDiff };
  /** Source files and printed graphs that differ. */
  texts: { request: OfPair; reply: TextDiff[] };
  /** The devices of the kernel's machine, and what runs there. */
  setups: { request: OfAttempt; reply: Setups };
  /** A case of ExportDB. */
  case: { request: ByName; reply: CasePage };
  /** A page of torch's registry of graph breaks. */
  break: { request: ByName; reply: BreakPage };
  /** The page on a stable code. */
  explain: { request: ByName; reply: CodeText };
  /** Programs of the kernel, and files of its folder, that a program can be compared with. */
  others: { request: OfAttempt; reply: OtherPrograms };
  /** Opens another program to compare with; the current attempt does not change. */
  beside: { request: OtherChoice; reply: NewAttempt };
  /** Applies fixes together. If that fails or is interrupted, the current attempt does not change. */
  apply: { request: FixChoice; reply: NewAttempt };
  /** The edits that write an attempt and its fixes into the user's code. Writes nothing. */
  writing: { request: FixChoice; reply: Writing };
  /** Applies lossless fixes until one exports or none is left. */
  autofix: { request: OfAttempt; reply: Autofixed };
  /** Writes a short script that fails the same way. */
  reproduce: { request: OfAttempt; reply: ReproducedScript };
  /** Checks the guarantees and adds them to the Record. */
  verify: { request: SizeCount; reply: Sentence };
  /** Runs the program and eager, and adds rows to the Record. Returns why it ended early. */
  run: { request: RunRequest; reply: Sentence };
  /** Measures the time of each op and adds it to the Record. */
  profile: { request: ProfileRequest; reply: null };
  /** Compiles the program, times its kernels and adds both to the Record. */
  stages: { request: StagesRequest; reply: null };
  /** Lowers a copy of the program for a backend and adds the result to the Record. */
  delegate: { request: DelegateRequest; reply: null };
  /** Asks every backend which ops it can take and adds the table to the Record. */
  can_take: { request: OfAttempt; reply: null };
  /** Tries rewrites that bring ops into a delegate and adds those that help to the Record. */
  delegation_fixes: { request: DelegateRequest; reply: null };
  /** Rewrites ops that a delegate leaves, lowers again and compares with eager. */
  fix_delegation: { request: DelegationFixChoice; reply: Autofixed };
  /** Records the value of every op in the Record. */
  watch: { request: ProfileRequest; reply: null };
  /** Compares a run with another and adds the result to the Record. */
  against: { request: ValuesAgainst; reply: Sentence };
  /** Part of an op's output; the program runs again. */
  tensor: { request: TensorRequest; reply: TensorSlice };
  /** Decomposes the program by a table. */
  decompose: { request: TableChoice; reply: NewAttempt };
  /** Exports the call with its shapes in the other form, Dims or a ShapesSpec, and compares. */
  contracts: { request: OfAttempt; reply: ContractsCompared };
  /** Generates with the programs of a set and with the model, and adds the trials to the set. */
  generate: { request: GenerateRequest; reply: Sentence };
  /** Trusts an opened file: loads its program, which runs its code. */
  trust: { request: OfAttempt; reply: null };
  /** Makes an attempt the current one of the kernel: `ex.program`. */
  use: { request: OfAttempt; reply: null };
}

export interface LibraryAsks {
  /** All cases of the installed torch. */
  cases: { request: Nothing; reply: CaseList };
  /** All pages on graph breaks. */
  breaks: { request: Nothing; reply: BreakList };
  /** Highlights Python. Nothing is run. */
  colour: { request: CaseText; reply: Lines };
  /** Runs a case's text and exports its call in both modes. */
  try: { request: CaseTrial; reply: CaseTried };
}

export interface GuideAsks {
  /** Makes a choice and continues the guide. */
  take: { request: GuideChoice; reply: null };
}
