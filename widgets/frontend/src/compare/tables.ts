/** The tables of two Records as one: the second's first, so that its own numbers stay as they are. */

import type { Record, Scope, ValueType } from "../record.gen";

export class Tables {
  private readonly scopes: Scope[];
  /** Per scope of the program before, its number among all. */
  private readonly scopeNumbers: number[] = [];

  /**
   * @param before the Record whose numbers change
   * @param after the Record whose numbers stay
   * @param renamed symbols that are the same, by their names in the first and in the second
   */
  constructor(
    private readonly before: Record,
    private readonly after: Record,
    private readonly renamed: readonly string[][],
  ) {
    this.scopes = [...after.scopes];
    const known = new Map(after.scopes.map((scope, at) => [`${scope.path}#${scope.call}`, at]));
    for (const scope of before.scopes) {
      const parent = this.scopeNumbers[scope.parent] ?? -1; // parents come before children
      const at = known.get(`${scope.path}#${scope.call}`);
      this.scopeNumbers.push(at ?? this.scopes.push({ ...scope, parent }) - 1);
    }
  }

  string(number: number): number {
    return number < 0 ? number : number + this.after.strings.length;
  }

  target(number: number): number {
    return number < 0 ? number : number + this.after.targets.length;
  }

  type(number: number): number {
    return number < 0 ? number : number + this.after.types.length;
  }

  scope(number: number): number {
    return this.scopeNumbers[number] ?? -1;
  }

  /** All of them, for a Record. */
  merged(): Pick<Record, "strings" | "targets" | "types" | "scopes" | "expressions"> {
    const { before, after } = this;
    const types = before.types.map(
      (type): ValueType => ({ ...type, items: type.items.map((item) => this.type(item)) }),
    );
    const names = new Map(this.renamed.map(([old, now]) => [old, now]));
    const numbers = new Map(after.symbols.map(({ name }, at) => [name, at]));
    const expressions = before.expressions.map(({ text, symbols }) => ({
      text,
      symbols: symbols.flatMap((symbol) => {
        const name = before.symbols[symbol]?.name ?? "";
        return numbers.get(names.get(name) ?? name) ?? [];
      }),
    }));
    return {
      strings: [...after.strings, ...before.strings],
      targets: [...after.targets, ...before.targets],
      types: [...after.types, ...types],
      scopes: this.scopes,
      // A later entry wins: the program on screen says what its own texts mean.
      expressions: [...expressions, ...after.expressions],
    };
  }
}
