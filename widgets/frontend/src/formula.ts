/** Evaluates the formulas of a Record, as `export_engine/sizes/formula.py` does. Pure. */

export type Formula = readonly (number | string)[];
export type Value = number | boolean;

/** A formula that has no value for these sizes, as with a division by zero. */
export class NoValue extends Error {}

const LARGEST_POWER = 64;

function logarithm(of: (value: number) => number): (value: number) => number {
  return (value) => {
    if (value <= 0) throw new NoValue("the logarithm of a number that is not positive");
    return of(value);
  };
}

const ONE: { [operator: string]: (value: number) => Value } = {
  neg: (value) => -value,
  not: (value) => !value,
  abs: Math.abs,
  floor: Math.floor,
  ceil: Math.ceil,
  trunc: Math.trunc,
  round: roundHalfToEven,
  sqrt(value) {
    if (value < 0) throw new NoValue("the root of a negative number");
    return Math.sqrt(value);
  },
  log: logarithm(Math.log),
  log2: logarithm(Math.log2),
  exp(value) {
    const power = Math.exp(value);
    if (power === Infinity) throw new NoValue("a power too large to compute");
    return power;
  },
  float: (value) => value,
};

const TWO: { [operator: string]: (one: number, other: number) => Value } = {
  "+": (one, other) => one + other,
  "-": (one, other) => one - other,
  "*": (one, other) => one * other,
  "/": (one, other) => one / divisor(other),
  "//": floorDivision,
  "%": remainder,
  "**"(one, other) {
    if (Math.abs(other) > LARGEST_POWER) throw new NoValue("a power too large to compute");
    if (one === 0 && other < 0) throw new NoValue("a negative power of zero");
    return one ** other;
  },
  min: Math.min,
  max: Math.max,
  "==": (one, other) => one === other,
  "!=": (one, other) => one !== other,
  "<": (one, other) => one < other,
  "<=": (one, other) => one <= other,
  ">": (one, other) => one > other,
  ">=": (one, other) => one >= other,
  and: (one, other) => Boolean(one) && Boolean(other),
  or: (one, other) => Boolean(one) || Boolean(other),
};

/** The value for sizes, of which `d0` is the first. Throws NoValue where there is none. */
export function evaluate(formula: Formula, sizes: readonly number[]): Value {
  const stack: Value[] = [];
  const pop = (): number => Number(stack.pop());
  for (const token of formula) {
    if (typeof token === "number") stack.push(token);
    else if (Object.hasOwn(ONE, token)) stack.push((ONE[token] as (value: number) => Value)(pop()));
    else if (Object.hasOwn(TWO, token)) {
      const other = pop();
      stack.push((TWO[token] as (one: number, other: number) => Value)(pop(), other));
    } else {
      const size = sizes[Number(token.slice(1))];
      if (size === undefined) throw new NoValue(`there is no size ${token}`);
      stack.push(size);
    }
  }
  const value = stack[0];
  if (value === undefined) throw new NoValue("an empty formula");
  if (Number.isNaN(value)) throw new NoValue("no real number");
  return value;
}

/** The numbers of the sizes that a formula is about. */
export function sizesIn(formula: Formula): Set<number> {
  const names = formula.filter((token): token is string => /^d\d+$/.test(String(token)));
  return new Set(names.map((name) => Number(name.slice(1))));
}

function divisor(value: number): number {
  if (value === 0) throw new NoValue("a division by zero");
  return value;
}

/** Python's, which has the sign of the divisor. */
function remainder(one: number, other: number): number {
  const rest = one % divisor(other);
  return rest !== 0 && rest < 0 !== other < 0 ? rest + other : rest;
}

/** By the remainder, as in Python: of floats, the quotient may be rounded up. `1 // 0.1` is 9. */
function floorDivision(one: number, other: number): number {
  return Math.round((one - remainder(one, other)) / other);
}

function roundHalfToEven(value: number): number {
  const below = Math.floor(value);
  if (value - below !== 0.5) return Math.round(value);
  return below % 2 === 0 ? below : below + 1;
}
