/** The tables of a stage's Record: what torch printed of its ops, as targets and types. Pure. */

import { ensure } from "../maps";
import type { Record, Target, ValueType } from "../record.gen";

export class StageTables {
  private readonly strings = new Map<string, number>();
  private readonly targets = new Map<string, number>();
  private readonly types = new Map<string, number>();
  private readonly ofTargets: Target[] = [];
  private readonly ofTypes: ValueType[] = [];

  string(text: string): number {
    return ensure(this.strings, text, () => this.strings.size);
  }

  target(name: string): number {
    return ensure(this.targets, name, () => this.ofTargets.push(targetOf(name)) - 1);
  }

  type(printed: string): number {
    if (printed === "") return -1;
    return ensure(this.types, printed, () => this.ofTypes.push(typeOf(printed)) - 1);
  }

  lists(): Pick<Record, "strings" | "targets" | "types"> {
    return { strings: [...this.strings.keys()], targets: this.ofTargets, types: this.ofTypes };
  }
}

/** `aten.addmm.default` is an op; what has no namespace is Python's, as `getitem`. */
function targetOf(name: string): Target {
  const [namespace = "", op = "", overload = ""] = name.split(".");
  const kinds: { [namespace: string]: Target["kind"] } = { aten: "aten", prims: "prim" };
  return {
    name,
    label: op || namespace,
    kind: op ? (kinds[namespace] ?? "custom") : "python",
    schema: "",
    overload,
    mutates: [],
    aliases: [],
    core: false,
    tags: [],
  };
}

const DTYPES: { [short: string]: string } = {
  f64: "float64",
  f32: "float32",
  f16: "float16",
  bf16: "bfloat16",
  i64: "int64",
  i32: "int32",
  i16: "int16",
  i8: "int8",
  u8: "uint8",
  b8: "bool",
};

const TENSOR = /^(\w+)\[([^\]]*)\](?:\[([^\]]*)\])?(.*)$/;

/** `f32[32, 64][64, 1]cpu`: dtype, sizes, strides, device. */
function typeOf(printed: string): ValueType {
  const type: ValueType = {
    kind: "unknown",
    text: printed,
    dtype: "",
    shape: [],
    stride: [],
    device: "",
    layout: "",
    requires_grad: false,
    value: null,
    items: [],
  };
  const [, short = "", shape = "", stride = "", device = ""] = TENSOR.exec(printed) ?? [];
  if (!short) return type;
  const text = `${short}[${shape}]`;
  const dtype = DTYPES[short] ?? short;
  return {
    ...type,
    kind: "tensor",
    text,
    dtype,
    shape: sizes(shape),
    stride: sizes(stride),
    device,
    layout: "strided",
  };
}

const sizes = (text: string): (number | string)[] =>
  text
    .split(",")
    .map((each) => each.trim())
    .filter(Boolean)
    .map((each) => (/^\d+$/.test(each) ? Number(each) : each));
