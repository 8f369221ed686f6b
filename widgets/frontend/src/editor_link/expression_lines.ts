/** Which lines an expression of Python's begins on that goes over several. Pure. */

const OPENING = new Set("([{");
const CLOSING = new Set(")]}");

/**
 * The lines at which the brackets around a line open, innermost first, all before it; then the first
 * line of its statement.
 *
 * @param text Python source
 * @param line from 1
 */
export function linesAround(text: string, line: number): number[] {
  const open: number[] = [];
  let start = 1;
  for (const token of tokensOf(text)) {
    if (token.line >= line) break;
    if (OPENING.has(token.text)) open.push(token.line);
    else if (CLOSING.has(token.text)) open.pop();
    else if (open.length === 0) start = token.line + 1;
  }
  return [...new Set([...open.reverse(), start])].filter((each) => each < line);
}

interface Token {
  line: number;
  text: string;
}

/** Brackets, and ends of lines that no backslash continues; what is in strings and comments is not. */
function* tokensOf(text: string): Generator<Token> {
  const pattern = /\\\r?\n|\r?\n|#[^\n]*|("""|'''|"|')|[([{}\])]/g;
  let line = 1;
  for (let found = pattern.exec(text); found; found = pattern.exec(text)) {
    const [token, quote] = found;
    if (quote) {
      const end = endOfString(text, pattern.lastIndex, quote);
      line += countOfLines(text.slice(pattern.lastIndex, end));
      pattern.lastIndex = end;
    } else if (token.startsWith("\\")) {
      line++;
    } else if (token.endsWith("\n")) {
      yield { line: line++, text: "\n" };
    } else if (!token.startsWith("#")) yield { line, text: token };
  }
}

/** Where a string ends that has begun; one of a single line ends with its line. */
function endOfString(text: string, from: number, quote: string): number {
  const pattern = /\\[\s\S]|"""|'''|"|'|\n/g;
  pattern.lastIndex = from;
  for (let found = pattern.exec(text); found; found = pattern.exec(text)) {
    const [token] = found;
    if (token === quote) return pattern.lastIndex;
    if (token === "\n" && quote.length === 1) return found.index;
    if (quote.length === 1 && token.startsWith(quote)) return found.index + 1;
  }
  return text.length;
}

const countOfLines = (text: string): number => text.split("\n").length - 1;
