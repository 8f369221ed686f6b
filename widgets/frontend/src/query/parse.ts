/**
 * A query's text as a tree, or an error with its column. The grammar is that of
 * `export_engine/query/parsing.py`, its twin; both are tested on `testing/queries.json`.
 */

import { ALSO, FIELDS, type Field } from "./fields.gen";

/** A query is invalid, or needs missing data. */
export class QueryError extends Error {
  constructor(
    readonly reason: string,
    /** From 1. */
    readonly column: number,
  ) {
    super(`${reason} (column ${column})`);
  }
}

/** One field against one text or number. */
export interface Test {
  kind: "test";
  field: Field;
  /** Of `overlay.NAME`, the name; else empty. */
  overlay: string;
  compare: ":" | "=" | "!=" | "<" | "<=" | ">" | ">=";
  text: string;
  /** Where `text` is one. */
  number: number | null;
  column: number;
}

export type Tree =
  | { kind: "words"; words: string[] }
  | Test
  | { kind: "not"; of: Tree }
  | { kind: "all" | "any"; of: Tree[] };

const DEEPEST = 100;
const HEAD =
  /([A-Za-z_][A-Za-z0-9_]*(?:\.(?:"[^"]*"|[A-Za-z_][A-Za-z0-9_]*))?)\s*(?:(<=|>=|==|!=|=|<|>)|(:))/y;
const QUOTED = /"([^"]*)"/y;
const TEXT = /(?:\[[^\]]*\]?|[^\s&|()[])+/y;
const WORD = /(?:\[[^\]]*\]?|[^\s&|()<>=![])+/y;
const NUMBER = /^[-+]?(?:(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?|inf)%?$/;
const BY_NAME = new Map(FIELDS.map((each) => [each.name, each]));

/** The tree of a query; of an empty one, no words. Throws QueryError. */
export function parse(text: string): Tree {
  const parser = new Parser(text);
  parser.space();
  if (parser.at === text.length) return { kind: "words", words: [] };
  const found = parser.any(0);
  if (parser.at < text.length) throw new QueryError("This ) has no matching (", parser.at + 1);
  return found;
}

class Parser {
  at = 0;

  constructor(private readonly text: string) {}

  space(): void {
    this.at += /^\s*/.exec(this.text.slice(this.at))?.[0].length ?? 0;
  }

  any(depth: number): Tree {
    const of = [this.all(depth)];
    while (this.take("|")) of.push(this.all(depth));
    return of.length === 1 && of[0] ? of[0] : { kind: "any", of };
  }

  private take(sign: string): boolean {
    if (!this.text.startsWith(sign, this.at)) return false;
    this.at += sign.length;
    this.space();
    return true;
  }

  private match(pattern: RegExp): RegExpExecArray | null {
    pattern.lastIndex = this.at;
    return pattern.exec(this.text);
  }

  private all(depth: number): Tree {
    const of = [this.one(depth)];
    while (this.at < this.text.length && !"|)".includes(this.text.charAt(this.at))) {
      const apart = this.take("&");
      const one = this.one(depth);
      const last = of.at(-1);
      if (one.kind === "words" && last?.kind === "words" && !apart) {
        of[of.length - 1] = { kind: "words", words: [...last.words, ...one.words] };
      } else {
        of.push(one);
      }
    }
    return of.length === 1 && of[0] ? of[0] : { kind: "all", of };
  }

  private one(depth: number): Tree {
    if (depth > DEEPEST) throw new QueryError("Brackets are nested too deeply", this.at + 1);
    if (this.take("!")) return { kind: "not", of: this.one(depth + 1) };
    const start = this.at;
    if (this.take("(")) {
      const found = this.any(depth + 1);
      if (!this.take(")")) throw new QueryError("This ( has no matching )", start + 1);
      // Bracketed words are a separate group, even next to others.
      return found.kind === "words" ? { kind: "all", of: [found] } : found;
    }
    return this.test() ?? this.word();
  }

  private test(): Test | null {
    const head = this.match(HEAD);
    if (!head) return null;
    const [whole, name = "", sign, colon] = head;
    const column = this.at + 1;
    const [field, overlay] = fieldOf(name);
    if (!field) {
      const rest = this.text.slice(this.at + whole.length);
      if (colon && (/^[\d:]/.test(rest) || name.includes("."))) return null; // a line, `model:12`
      throw new QueryError(`There is no field ${name}.${nearest(name)}`, column);
    }
    this.at += whole.length;
    if (!colon) this.space();
    const compare = (sign === "==" ? "=" : (sign ?? ":")) as Test["compare"];
    const [text, from] = this.value(field, compare);
    const number = numberOf(text);
    check(field, overlay, compare, text, number, column, from);
    return { kind: "test", field, overlay, compare, text, number, column };
  }

  private value(field: Field, compare: string): [string, number] {
    const start = this.at;
    const quoted = this.match(QUOTED);
    const found = quoted ?? this.match(TEXT);
    if (!found) throw new QueryError(`${field.name}${compare} needs a value`, start + 1);
    this.at += found[0].length;
    this.space();
    return [quoted ? (quoted[1] ?? "") : found[0], start + 1];
  }

  private word(): Tree {
    const quoted = this.match(QUOTED);
    const found = quoted ?? this.match(WORD);
    if (!found) {
      const here = this.text.charAt(this.at);
      const said = here ? `There is nothing before this ${here}` : "Something is missing here";
      throw new QueryError(said, this.at + 1);
    }
    this.at += found[0].length;
    this.space();
    return { kind: "words", words: [quoted ? (quoted[1] ?? "") : found[0]] };
  }
}

/** A field by its name, and which overlay it is of. */
function fieldOf(name: string): [Field | undefined, string] {
  const dot = name.indexOf(".");
  if (dot > 0 && name.slice(0, dot).toLowerCase() === "overlay") {
    return [BY_NAME.get("overlay"), name.slice(dot + 1).replaceAll('"', "")];
  }
  const known = name.toLowerCase();
  return [BY_NAME.get(ALSO[known] ?? known), ""];
}

/** A number, `1e6` or `90%`; null for anything else. */
function numberOf(text: string): number | null {
  if (!NUMBER.test(text)) return null;
  const bare = text.replace("%", "").replace("inf", "Infinity");
  return text.endsWith("%") ? Number(bare) / 100 : Number(bare);
}

function check(
  { name, match }: Field,
  overlay: string,
  compare: string,
  text: string,
  number: number | null,
  column: number,
  from: number,
): void {
  if (!text) throw new QueryError(`${name}${compare} needs a value`, from);
  if (match === "number" && number === null) {
    throw new QueryError(`${name} is compared with a number, not with ${text}`, from);
  }
  if (!/[<>]/.test(compare)) return;
  if (match !== "number" && !overlay) {
    throw new QueryError(`${name} is not a number: write ${name}:${text}`, column);
  }
  if (number === null) throw new QueryError(`${text} is not a number`, from);
}

/** Suggest the nearest name, as a sentence; the last parts of names count too. */
function nearest(name: string): string {
  let [least, best] = [Number.POSITIVE_INFINITY, ""];
  const consider = (apart: number, each: string): void => {
    if (apart < least || (apart === least && each < best)) [least, best] = [apart, each];
  };
  const also = Object.keys(ALSO);
  for (const each of [...BY_NAME.keys(), ...also]) consider(distance(name, each), each);
  for (const each of BY_NAME.keys()) {
    if (each.includes(".")) consider(distance(name, each.slice(each.indexOf(".") + 1)), each);
  }
  return least <= Math.max(1, Math.floor(name.length / 3)) ? ` Nearest: ${best}` : "";
}

/** How many letters have to be put in, taken out or changed. */
function distance(one: string, other: string): number {
  let row = Array.from({ length: other.length + 1 }, (_, at) => at);
  for (let at = 1; at <= one.length; at++) {
    const next = [at];
    for (let to = 1; to <= other.length; to++) {
      const changed = (row[to - 1] ?? 0) + (one[at - 1] === other[to - 1] ? 0 : 1);
      next.push(Math.min((row[to] ?? 0) + 1, (next[to - 1] ?? 0) + 1, changed));
    }
    row = next;
  }
  return row[other.length] ?? 0;
}
