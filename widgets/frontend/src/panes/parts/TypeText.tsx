/** Types and sizes as text, each symbol in its colour. */

import { capped } from "../../format";
import type { Program } from "../../program";
import type { ValueType } from "../../record.gen";
import { symbolColour } from "../../symbol_colour";

interface TypeTextProps {
  program: Program;
  type: ValueType | undefined;
}

const LONGEST_TYPE = 400;

/** A value's type, each symbolic size in the colour of its symbol. */
export function TypeText({ program, type }: TypeTextProps) {
  if (!type?.text) return <span class="tx-lead">—</span>;
  return (
    <span class="tx-type" title={capped(type.text)}>
      <TypePieces program={program} type={type} />
    </span>
  );
}

function TypePieces({ program, type }: { program: Program; type: ValueType }) {
  const { text, shape, value } = type;
  if (text.length > LONGEST_TYPE) return <>{capped(text, LONGEST_TYPE)}</>;
  if (type.kind === "tensor" && shape.length > 0) {
    return (
      <>
        {text.slice(0, text.indexOf("[") + 1)}
        <SizesText program={program} sizes={shape} />]
      </>
    );
  }
  if (type.kind === "tuple" && type.items.length > 0) {
    return (
      <>
        (
        {type.items.map((item, index) => {
          const entry = program.record.types[item];
          return (
            <span key={index}>
              {index > 0 && ", "}
              {entry ? <TypePieces program={program} type={entry} /> : "?"}
            </span>
          );
        })}
        )
      </>
    );
  }
  if (typeof value === "string" && text.endsWith(value)) {
    return (
      <>
        {text.slice(0, text.length - value.length)}
        <SizeText program={program} size={value} />
      </>
    );
  }
  return <>{text}</>;
}

/** Sizes with commas between them: `batch, 2*seq, 64`. */
export function SizesText({ program, sizes }: { program: Program; sizes: (number | string)[] }) {
  return (
    <>
      {sizes.map((size, index) => (
        <span key={index}>
          {index > 0 && ", "}
          <SizeText program={program} size={size} />
        </span>
      ))}
    </>
  );
}

export function SizeText({ program, size }: { program: Program; size: number | string }) {
  if (typeof size === "number") return <>{size}</>;
  return (
    <>
      {program.sizePieces(size).map(({ text, symbol }, index) =>
        symbol < 0 ? (
          text
        ) : (
          <b key={index} class="tx-symbol" style={{ color: symbolColour(symbol) }}>
            {text}
          </b>
        ),
      )}
    </>
  );
}
