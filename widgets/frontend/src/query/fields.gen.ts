// What a query can ask of a node. Do not edit: `make types` writes it.

export type Match = "contains" | "whole" | "parts" | "shape" | "number";
export type Needs = "" | "watch" | "pairs" | "profile" | "delegation";

export interface Field {
  name: string;
  match: Match;
  means: string;
  example: string;
  needs: Needs;
}

export const FIELDS: readonly Field[] = [
  { name: "op", match: "parts", means: "The operator", example: "op:linear", needs: "" },
  { name: "name", match: "contains", means: "The node's name", example: "name:linear_3", needs: "" },
  { name: "kind", match: "whole", means: "op, input, parameter, buffer, constant or output", example: "kind:parameter", needs: "" },
  { name: "dtype", match: "whole", means: "The dtype of its value", example: "dtype:f32", needs: "" },
  { name: "shape", match: "shape", means: "Its sizes; * is one, ... any number", example: "shape:[batch, *, 64]", needs: "" },
  { name: "rank", match: "number", means: "Number of dims", example: "rank = 4", needs: "" },
  { name: "numel", match: "number", means: "Number of elements, if all sizes are static", example: "numel > 1e6", needs: "" },
  { name: "symbol", match: "whole", means: "A symbol in its sizes", example: "symbol:batch", needs: "" },
  { name: "device", match: "whole", means: "The device of its value", example: "device:cuda*", needs: "" },
  { name: "module", match: "parts", means: "A module that contains it, by path", example: "module:layer.3", needs: "" },
  { name: "class", match: "parts", means: "A module that contains it, by class", example: "class:BertLayer", needs: "" },
  { name: "file", match: "contains", means: "A file of its stack, or file and line", example: "file:model.py:12", needs: "" },
  { name: "line", match: "number", means: "A line of its stack, outside of torch", example: "line >= 10", needs: "" },
  { name: "function", match: "whole", means: "A function of its stack", example: "function:forward", needs: "" },
  { name: "finding", match: "contains", means: "A finding about it: code, heading or sentence", example: "finding:EX201", needs: "" },
  { name: "overlay", match: "contains", means: "Value of an annotation; overlay.NAME is one of them", example: "overlay.sensitivity > 0.5", needs: "" },
  { name: "tag", match: "whole", means: "A tag of the operator", example: "tag:core", needs: "" },
  { name: "delegated", match: "whole", means: "The backend of its partition, or no", example: "delegated:no", needs: "delegation" },
  { name: "reason", match: "contains", means: "Why a backend leaves it outside", example: "reason:dtype", needs: "delegation" },
  { name: "users", match: "number", means: "Number of nodes that read it", example: "users = 0", needs: "" },
  { name: "inputs", match: "number", means: "Number of nodes that it reads", example: "inputs > 2", needs: "" },
  { name: "time", match: "number", means: "Time of the op, in microseconds", example: "time > 50", needs: "profile" },
  { name: "memory", match: "number", means: "Bytes of its outputs", example: "memory > 1e6", needs: "profile" },
  { name: "value.min", match: "number", means: "Least finite element", example: "value.min > 0", needs: "watch" },
  { name: "value.max", match: "number", means: "Greatest finite element", example: "value.max > 0", needs: "watch" },
  { name: "value.mean", match: "number", means: "Mean of the finite elements", example: "value.mean > 0", needs: "watch" },
  { name: "value.std", match: "number", means: "Standard deviation", example: "value.std > 0", needs: "watch" },
  { name: "value.norm", match: "number", means: "Euclidean norm", example: "value.norm > 0", needs: "watch" },
  { name: "value.zeros", match: "number", means: "Share of elements that are 0", example: "value.zeros > 0", needs: "watch" },
  { name: "value.saturated", match: "number", means: "Share of elements at the end of their dtype's range", example: "value.saturated > 0", needs: "watch" },
  { name: "value.nan", match: "number", means: "Number of NaN elements", example: "value.nan > 0", needs: "watch" },
  { name: "value.inf", match: "number", means: "Number of infinite elements", example: "value.inf > 0", needs: "watch" },
  { name: "value.runs", match: "number", means: "Number of times the op ran", example: "value.runs > 0", needs: "watch" },
  { name: "error.own", match: "number", means: "Relative error that the op itself adds", example: "error.own > 0.01", needs: "pairs" },
  { name: "error.relative", match: "number", means: "Relative error of its value", example: "error.relative > 0.01", needs: "pairs" },
  { name: "error.absolute", match: "number", means: "Largest absolute error", example: "error.absolute > 0.01", needs: "pairs" },
  { name: "error.cosine", match: "number", means: "Cosine of the two values", example: "error.cosine > 0.01", needs: "pairs" },
  { name: "error.sqnr", match: "number", means: "Signal to noise, in dB", example: "error.sqnr > 0.01", needs: "pairs" },
  { name: "error.overflow", match: "number", means: "Elements that overflow in this run only", example: "error.overflow > 0.01", needs: "pairs" },
  { name: "error.underflow", match: "number", means: "Elements that become 0 in this run only", example: "error.underflow > 0.01", needs: "pairs" },
];

export const ALSO: { readonly [name: string]: string } = {
  scope: "module",
  target: "op",
  stack: "file",
};

export const LACKS: { readonly [needs: string]: string } = {
  watch: "needs a watched run: Watch in the Values pane, or .record_values()",
  pairs: "needs two runs: Compare in the Values pane, or .compare()",
  delegation: "needs a delegation: Lower in the Delegate pane, or .delegate()",
  profile: "needs a profile: Profile in the Runs pane, or .cost().measure()",
};
