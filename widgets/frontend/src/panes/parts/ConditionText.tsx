/** A condition on sizes, each symbol in its colour. */

import { capped } from "../../format";
import type { Program } from "../../program";
import { symbolColour } from "../../symbol_colour";

interface ConditionTextProps {
  program: Program;
  text: string;
  /** Indices of the symbols it is about. */
  symbols: readonly number[];
}

export function ConditionText({ program, text, symbols }: ConditionTextProps) {
  return (
    <>
      {program.pieces(capped(text, 400), symbols).map((piece, index) => (
        <span
          key={index}
          style={piece.symbol < 0 ? undefined : { color: symbolColour(piece.symbol) }}
        >
          {piece.text}
        </span>
      ))}
    </>
  );
}
