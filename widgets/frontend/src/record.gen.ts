// Generated from export_engine/record/record.py by `make types`. The schema's comments are there.

/** Small integers, one per node or edge; a view into the message that brought them. */
export type Column = Int8Array | Int16Array | Int32Array;

export const SCHEMA_VERSION = 3;

export const OPS = ["placeholder", "get_attr", "call_function", "call_module", "call_method", "output"] as const;

export interface Timing {
  capture: number;
}

export interface Target {
  name: string;
  label: string;
  kind: "aten" | "custom" | "higher_order" | "module" | "prim" | "python";
  schema: string;
  overload: string;
  mutates: string[];
  aliases: string[];
  core: boolean;
  tags: string[];
}

export interface ValueType {
  kind: "bool" | "float" | "int" | "none" | "object" | "str" | "tensor" | "tuple" | "unknown";
  text: string;
  dtype: string;
  shape: (number | string)[];
  stride: (number | string)[];
  device: string;
  layout: string;
  requires_grad: boolean;
  value: number | string | null;
  items: number[];
}

export interface Expression {
  text: string;
  symbols: number[];
}

export interface Scope {
  path: string;
  name: string;
  cls: string;
  parent: number;
  call: number;
}

export interface SourceFile {
  path: string;
  name: string;
  origin: "cell" | "generated" | "library" | "torch" | "user";
  text: string;
}

export interface Frames {
  file: Column;
  line: Column;
  function: Column;
}

export interface Ragged {
  starts: Column;
  items: Column;
}

export interface NestedGraph {
  node: number;
  graph: number;
  argument: string;
  holder: number;
}

export interface Group {
  function: string;
  parent: number;
  scope: number;
  plumbing: boolean;
  scopes: number[];
}

export interface Graph {
  title: string;
  name: Column;
  op: Column;
  target: Column;
  type: Column;
  scope: Column;
  stack: Column;
  args: Column;
  inputs: Ragged;
  housekeeping: Column;
  nested: NestedGraph[];
  group: Column;
  groups: Group[];
}

export interface InputEntry {
  kind: "buffer" | "constant_tensor" | "custom_object" | "parameter" | "token" | "user_input";
  name: string;
  node: number;
  type: number;
  target: string;
  path: string;
  keyword: boolean;
  persistent: boolean | null;
  constant: string | null;
  bytes: number;
}

export interface OutputEntry {
  kind: "buffer_mutation" | "gradient_to_parameter" | "gradient_to_user_input" | "loss_output" | "parameter_mutation" | "token" | "user_input_mutation" | "user_output";
  name: string;
  node: number;
  type: number;
  target: string;
  path: string;
  constant: string | null;
}

export interface Signature {
  inputs: InputEntry[];
  outputs: OutputEntry[];
  takes: string;
  returns: string;
}

export interface Place {
  io: "input" | "output";
  entry: number;
  dim: number;
  text: string;
  size: string;
}

export interface Bound {
  side: "lower" | "upper";
  value: number;
  origin: "check" | "default" | "dim" | "fix" | "guard";
  text: string;
  guard: number;
}

export interface Symbol {
  name: string;
  torch_name: string;
  kind: "backed" | "unbacked";
  lower: number | null;
  upper: number | null;
  example: number | null;
  places: Place[];
  stack: number;
  bounds: Bound[];
}

export interface Guard {
  text: string;
  torch_text: string;
  symbols: number[];
  kind: "guard" | "runtime_assert";
  stack: number;
  count: number;
  effect: "equates" | "fixes" | "implied" | "kept" | "narrows";
  result: string;
  asked_by: string;
  inputs: number[];
}

export interface Event {
  kind: "birth" | "guard" | "range" | "replacement";
  text: string;
  torch_text: string;
  symbols: number[];
  stack: number;
  guard: number;
  count: number;
}

export interface SizeInput {
  entry: number;
  dim: number;
  text: string;
  example: number;
  size: number | string;
  symbol: number;
  scale: number;
  offset: number;
}

export interface Rule {
  kind: "equal" | "fixed" | "form" | "guard" | "range";
  text: string;
  formula: (number | number | string)[];
  guard: number;
  stack: number;
  enforced: boolean;
}

export interface OutputSize {
  entry: number;
  dim: number;
  size: number | string;
  formula: (number | number | string)[];
}

export interface Probe {
  inputs: SizeInput[];
  rules: Rule[];
  outputs: OutputSize[];
}

export interface Related {
  text: string;
  stack: number;
}

export interface Link {
  kind: "docs" | "exportdb" | "graph-break";
  name: string;
  text: string;
  url: string;
}

export interface ShapesForm {
  name: "Dims" | "ShapesSpec";
  text: string;
  python: string;
  reason: string;
}

export interface FixCard {
  kind: "code" | "inputs" | "mode" | "options" | "shapes";
  title: string;
  why: string;
  lossy: boolean;
  narrows: boolean;
  gives_up: string;
  before: string;
  after: string;
  diffs: string[];
  stack: number;
  tried: boolean;
  forms: ShapesForm[];
}

export interface Failure {
  error: string;
  kind: string;
  known: boolean;
  sentence: string;
  why: string;
  message: string;
  traceback: string;
  stack: number;
  span: number[];
  related: Related[];
  links: Link[];
  fixes: FixCard[];
  code: string;
}

export interface TrialRow {
  sizes: string;
  outcome: "agrees" | "differs" | "eager-fails" | "refused";
  error: number;
  detail: string;
}

export interface Check {
  verdict: "agrees" | "differs" | "not checked" | "refused";
  sentence: string;
  trials: TrialRow[];
}

export interface ReplacedOp {
  op: string;
  count: number;
  into: string[];
  function: string;
  file: number;
  line: number;
}

export interface LevelRow {
  table: string;
  origins: number[];
  fallback: number[];
  untied: number[];
  replaced: ReplacedOp[];
  outside: string[];
}

export interface FindingRow {
  kind: string;
  heading: string;
  severity: "note" | "surprising" | "wrong";
  sentence: string;
  why: string;
  stack: number;
  node: number;
  guard: number;
  fix: number;
  card: FixCard | null;
  code: string;
}

export interface GuaranteeRow {
  name: string;
  claim: string;
  verdict: "broken" | "holds" | "not applicable" | "not checked";
  sentence: string;
  evidence: string[];
  node: number;
  lacking: string;
  report: string;
  code: string;
}

export interface Verification {
  verdict: "broken" | "holds" | "not checked";
  sentence: string;
  rows: GuaranteeRow[];
  seconds: number;
  trials: TrialRow[];
  left_out: string[];
}

export interface RunError {
  absolute: number;
  relative: number;
  ulps: number;
}

export interface RunTimes {
  median: number;
  spread: number;
  calls: number;
  first: number;
  prepare: number;
}

export interface RunRow {
  backend: string;
  title: string;
  device: string;
  inputs: string;
  outcome: "agrees" | "differs" | "failed" | "refused" | "unavailable";
  sentence: string;
  detail: string;
  error: RunError | null;
  times: RunTimes | null;
  memory: number;
  size: number;
  saved: string;
  node: number;
  where: string;
  torch_version: string;
  calls: number;
  lost: string[];
}

export interface Profile {
  device: string;
  inputs: string;
  runs: number;
  microseconds: number[];
  bytes: number[];
  total: number;
}

export interface StageGraph {
  name: "decomposed" | "post-grad" | "runtime";
  text: string;
  ops: string[];
  targets: string[];
  types: string[];
  line: Column;
  nodes: Ragged;
  inputs: string[];
  input_types: string[];
  input_nodes: Column;
  reads: Ragged;
  outputs: Column;
}

export interface Kernel {
  name: string;
  kind: "extern" | "fused";
  calls: string;
  ops: number[];
  nodes: number[];
  lines: number[];
  code: number;
  call_line: number;
  body: number;
  body_line: number;
  microseconds: number;
  spread: number;
}

export interface StageLine {
  file: number;
  name: string;
  line: number;
  code: string;
}

export interface StageCode {
  title: string;
  language: "cpp" | "python";
  text: string;
}

export interface StageRemark {
  kernel: number;
  kind: "copy" | "float64" | "fusion" | "layout" | "recomputed";
  text: string;
  lines: number[];
}

export interface StageGuard {
  node: number;
  text: string;
  lines: number[];
}

export interface StageTimes {
  method: string;
  calls: number;
  call: number;
  spread: number;
  kernels: number;
  overhead: number;
  owned: number;
  between: number;
  other: string;
}

export interface Stages {
  version: number;
  backend: string;
  title: string;
  settings: string;
  device: string;
  inputs: string;
  torch_version: string;
  seconds: number;
  cached: boolean;
  exported: number;
  graphs: StageGraph[];
  kernels: Kernel[];
  backward: number;
  lines: StageLine[];
  codes: StageCode[];
  removed: Column;
  remarks: StageRemark[];
  guards: StageGuard[];
  times: StageTimes | null;
  left_out: string[];
}

export interface LinePlace {
  file: string;
  line: number;
  code: string;
  module: string;
}

export interface TriedFix {
  kind: string;
  title: string;
  ops: string[];
  places: LinePlace[];
  gain: string;
  is_lossless: boolean;
  agreement: string;
}

export interface BackendRule {
  name: string;
  file: string;
  line: number;
  text: string;
}

export interface DelegatedOp {
  name: string;
  op: string;
  kind: "pick" | "size" | "tensor";
  partition: number;
  graph: string;
  reason: string;
  by: "" | "backend" | "follows" | "no rule" | "rule";
  rule: BackendRule | null;
  origin: string;
  place: LinePlace;
  flops: number | null;
  bytes: number;
  microseconds: number;
  missing_kernel: string;
}

export interface InnerTime {
  name: string;
  microseconds: number;
}

export interface Partition {
  number: number;
  name: string;
  ops: number;
  flops: number;
  bytes_in: number;
  bytes_out: number;
  microseconds: number;
  inner: InnerTime[];
}

export interface PartitionSplit {
  before: number;
  after: number;
  ops: string[];
}

export interface QuantizeOp {
  name: string;
  op: string;
  is_folded: boolean;
  reason: string;
  place: LinePlace;
}

export interface CountedNodes {
  inside: number;
  outside: number;
  partitions: number;
}

export interface Delegation {
  backend: string;
  title: string;
  version: string;
  is_stage: boolean;
  seconds: number;
  kinds: string[];
  fixes: TriedFix[] | null;
  ops: DelegatedOp[];
  partitions: Partition[];
  splits: PartitionSplit[];
  pairs: QuantizeOp[];
  counted: CountedNodes | null;
  call: number;
  runtime: string;
  notes: string[];
}

export interface BackendAnswer {
  backend: string;
  title: string;
  taken: string[];
  refused: { [key: string]: string };
}

export interface OpTable {
  answers: BackendAnswer[];
  calls: { [key: string]: string[] };
  unavailable: { [key: string]: string };
}

export interface OpValues {
  graph: number;
  runs: Column;
  count: Column;
  minimum: Column;
  maximum: Column;
  mean: Column;
  std: Column;
  norm: Column;
  zeros: Column;
  saturated: Column;
  nans: Column;
  infs: Column;
  histogram: Column;
}

export interface Values {
  device: string;
  inputs: string;
  seconds: number;
  memory: number;
  graphs: OpValues[];
  left_out: string[];
}

export interface OpPairs {
  graph: number;
  partner: Column;
  absolute: Column;
  relative: Column;
  cosine: Column;
  sqnr: Column;
  own: Column;
  overflow: Column;
  underflow: Column;
}

export interface OpPlace {
  graph: number;
  node: number;
}

export interface ValuePairs {
  one: string;
  other: string;
  device: string;
  inputs: string;
  agrees: boolean;
  sentence: string;
  graphs: OpPairs[];
  faults: OpPlace[];
  worst: OpPlace | null;
  left_out: string[];
}

export interface QuantizedTensor {
  role: "input" | "output" | "weight";
  node: number;
  name: string;
  dtype: string;
  bits: number;
  low: number;
  high: number;
  granularity: "" | "channel" | "group" | "tensor" | "token";
  axis: number;
  group: number;
  scales: number;
  scale: number[];
  zero_point: number[];
  dynamic: boolean;
  bytes: number;
  float_bytes: number;
}

export interface QuantizedLayer {
  node: number;
  folded: number[];
  result: number;
  scheme: string;
  tensors: QuantizedTensor[];
}

export interface FloatOp {
  node: number;
  why: string;
  bytes: number;
}

export interface Quantization {
  layers: QuantizedLayer[];
  in_float: FloatOp[];
  bytes: number;
  float_bytes: number;
  unread_bytes: number;
}

export interface Overlay {
  name: string;
  kind: "colour" | "number" | "text";
  graphs: number[];
  nodes: number[];
  numbers: number[];
  texts: string[];
}

export interface Record {
  schema: number;
  title: string;
  outcome: "exported" | "failed";
  mode: "given" | "loaded" | "non-strict" | "strict";
  verdict: string;
  shapes: string;
  other_form: "" | "Dims" | "ShapesSpec";
  torch_version: string;
  timing: Timing | null;
  warnings: string[];
  left_out: string[];
  printed: string;
  strings: string[];
  targets: Target[];
  types: ValueType[];
  expressions: Expression[];
  scopes: Scope[];
  files: SourceFile[];
  sources_inside: boolean;
  frames: Frames;
  stacks: Ragged;
  graphs: Graph[];
  signature: Signature;
  symbols: Symbol[];
  guards: Guard[];
  timeline: Event[];
  probe: Probe;
  failure: Failure | null;
  fixed_by: string[];
  given_up: string[];
  fixed_code: string[];
  check: Check | null;
  level: LevelRow | null;
  origins: Ragged | null;
  findings: FindingRow[];
  not_looked_for: string[];
  verification: Verification | null;
  runs: RunRow[];
  profile: Profile | null;
  stages: Stages[];
  delegations: Delegation[];
  op_table: OpTable | null;
  values: Values | null;
  pairs: ValuePairs | null;
  quantization: Quantization | null;
  overlays: Overlay[];
}

export interface ComponentRow {
  name: string;
  verdict: string;
  outcome: "exported" | "failed";
  ops: number;
  bytes: number;
  role: string;
}

export interface Flow {
  output: number;
  input: number;
  source_node: number;
  target_node: number;
  source_path: string;
  target_path: string;
  given: string;
  taken: string;
  kind: "cache" | "state" | "value";
  known_by: "name" | "ops" | "part" | "values";
}

export interface Seam {
  source: number;
  target: number;
  flows: Flow[];
  summary: string;
}

export interface SymbolMember {
  component: number;
  symbol: number;
  name: string;
  range: string;
}

export interface SharedSymbol {
  name: string;
  members: SymbolMember[];
}

export interface WeightRow {
  names: string[];
  holders: number[];
  state: "different" | "duplicated" | "shared";
  bytes: number;
}

export interface SetFinding {
  kind: string;
  heading: string;
  severity: "note" | "surprising" | "wrong";
  sentence: string;
  why: string;
  component: number;
  node: number;
  stack: number;
  place: string;
  seam: number;
  code: string;
}

export interface GenerationTrial {
  sizes: string;
  backend: string;
  outcome: "differs" | "failed" | "same" | "unavailable";
  tokens: number;
  sentence: string;
  step: number;
  component: number;
  node: number;
  first_ms: number;
  rate: number;
  eager_first_ms: number;
  eager_rate: number;
}

export interface ProgramSet {
  title: string;
  components: ComponentRow[];
  seams: Seam[];
  symbols: SharedSymbol[];
  weights: WeightRow[];
  shared_bytes: number;
  duplicated_bytes: number;
  findings: SetFinding[];
  trials: GenerationTrial[];
  notes: string[];
}

export interface Change {
  what: "arguments" | "inputs" | "op" | "order" | "scope" | "type";
  before: string;
  after: string;
  follows: boolean;
}

export interface Pair {
  before: number;
  after: number;
  why: "input" | "neighbours" | "provenance" | "sequence" | "structure" | "weights";
  changes: Change[];
}

export interface Became {
  before: number[];
  after: number[];
}

export interface GraphDiff {
  before: number;
  after: number;
  title: string;
  pairs: Pair[];
  removed: number[];
  added: number[];
  became: Became[];
}

export interface Difference {
  kind: "graph" | "guard" | "input" | "output" | "sizes" | "symbol";
  name: string;
  before: string;
  after: string;
}

export interface RenamedScope {
  before: string;
  after: string;
  modules: number;
  pairs: number[][];
  others: number[];
}

export interface LoneScope {
  kind: "added" | "removed";
  path: string;
  cls: string;
  graph: number;
  nodes: number[];
  others: number[];
}

export interface ProgramDiff {
  before: string;
  after: string;
  graphs: GraphDiff[];
  others: Difference[];
  symbols: string[][];
  renamed: RenamedScope[];
  modules: LoneScope[];
  identical: boolean;
  weights: string;
}

export interface TextDiff {
  kind: "code" | "source";
  name: string;
  diff: string;
}

export interface CaseInput {
  path: string;
  text: string;
}

export interface ExportCase {
  name: string;
  title: string;
  description: string;
  tags: string[];
  level: "not supported yet" | "supported";
  source: string;
  inputs: CaseInput[];
  shapes: string;
  explains: string[];
}

export interface GraphBreakPage {
  name: string;
  title: string;
  explanations: string[];
  hints: string[];
  contexts: string[];
  url: string;
}

export interface TensorSlice {
  dtype: string;
  shape: number[];
  axes: string[];
  rows: number;
  columns: number;
  index: number[];
  steps: number[];
  grid: ((number | null)[])[];
  low: number;
  high: number;
  mean: number;
  std: number;
  nans: number;
  infs: number;
  histogram: number[];
  cell: number[];
  starts: number[];
  near: string[][];
  image: number[][][];
}
