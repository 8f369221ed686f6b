/** The verdict on tried sizes: the output sizes, or the broken rules. */

import { capped, counted } from "../../format";
import { type ProbeResult, shownSizes } from "../../probe";
import type { Program } from "../../program";
import type { Rule, TrialRow } from "../../record.gen";
import type { Store } from "../../store";
import { LineLink } from "../parts/LineLink";
import { More } from "../parts/parts";

const FEW_RULES = 3;
const FEW_OUTPUTS = 4;

interface Props {
  store: Store;
  program: Program;
  result: ProbeResult;
  sizes: readonly number[];
}

export function ProbeVerdict({ store, program, result, sizes }: Props) {
  const { verdict, unknown } = result;
  return (
    <div class={`tx-judged tx-judged-${verdict}`} role="status" data-testid="probe-verdict">
      {verdict === "accepted" && (
        <>
          <strong>The guards accept it</strong> <Outputs program={program} result={result} />
        </>
      )}
      {verdict === "refused" && <strong>Refused: </strong>}
      {verdict === "unchecked" && (
        <>
          <strong>Not checked.</strong> No guard rejects it, but it is outside the declared ranges,
          so nothing is guaranteed.{" "}
        </>
      )}
      <Broken store={store} program={program} result={result} />
      <Tried program={program} sizes={sizes} />
      {unknown.length > 0 && (
        <p class="tx-lead">{counted(unknown.length, "rule")} can be checked only by calling it.</p>
      )}
    </div>
  );
}

const TRIED: { [outcome in TrialRow["outcome"]]: string } = {
  agrees: "Agrees with eager",
  differs: "Differs from eager",
  refused: "Eager accepts it, but the program does not",
  "eager-fails": "Eager fails",
};

/** The result of running both at these sizes, if Verify did. */
function Tried({ program, sizes }: Pick<Props, "program" | "sizes">) {
  const shown = shownSizes(program.record, sizes);
  const trials = program.record.verification?.trials ?? [];
  const trial = shown ? trials.find((each) => each.sizes === shown) : undefined;
  if (!trial) return <p class="tx-lead">Not run at these sizes.</p>;
  const detail = trial.outcome === "agrees" ? "" : `: ${capped(trial.detail, 200)}`;
  return (
    <p class="tx-lead" data-testid="probe-tried">
      {TRIED[trial.outcome]}, as Verify ran it{detail}.
    </p>
  );
}

/** One rule is on the line of the verdict, several are in a list. */
function Broken({ store, program, result }: Omit<Props, "sizes">) {
  const { broken, verdict } = result;
  const said = (rule: Rule) => (
    <BrokenRule
      store={store}
      program={program}
      rule={rule}
      passes={verdict === "refused" && !rule.enforced}
    />
  );
  const [only] = broken;
  if (!only) return null;
  if (broken.length === 1) return said(only);
  return (
    <ul>
      <More items={broken} few={FEW_RULES}>
        {(rule, index) => <li key={index}>{said(rule)}</li>}
      </More>
    </ul>
  );
}

const WHY: { [kind in Rule["kind"]]: string } = {
  fixed: "fixed",
  equal: "the same size",
  form: "derived from another",
  range: "",
  guard: "",
};

interface BrokenRuleProps {
  store: Store;
  program: Program;
  rule: Rule;
  /** Whether it is not what refuses, where something does. */
  passes: boolean;
}

function BrokenRule({ store, program, rule, passes }: BrokenRuleProps) {
  const guard = program.record.guards[rule.guard];
  const text = rule.text || guard?.text;
  const why = passes ? "not checked by the program" : WHY[rule.kind] || rangeWhy(program, rule);
  return (
    <>
      {text ? <code>{capped(text, 200)}</code> : "a check in the program"}{" "}
      {why && <span class="tx-lead">{why} </span>}
      <LineLink
        store={store}
        program={program}
        stack={guard && guard.stack >= 0 ? guard.stack : rule.stack}
      />
    </>
  );
}

/** For the end of a range: the name of the size, and the fix that set it. Pure. */
function rangeWhy(program: Program, { kind, formula, text }: Rule): string {
  const [input, , sign] = formula;
  const size = program.record.probe.inputs[Number(String(input).slice(1))];
  const symbol = program.record.symbols[size?.symbol ?? -1];
  if (kind !== "range" || !symbol) return "";
  const side = sign === ">=" ? "lower" : "upper";
  const bound = symbol.bounds.find((each) => each.side === side && each.origin === "fix");
  const named = !text.startsWith(symbol.name);
  return [named && capped(symbol.name, 60), bound && capped(bound.text, 200)]
    .filter(Boolean)
    .join(", ");
}

/** `output 0: [8, 32]`, with `?` for a size that depends on values. */
function Outputs({ program, result }: Pick<Props, "program" | "result">) {
  const byEntry = new Map<number, { sizes: string[]; number: boolean }>();
  program.record.probe.outputs.forEach((output, index) => {
    const known = byEntry.get(output.entry) ?? { sizes: [], number: output.dim < 0 };
    known.sizes.push(String(result.outputs[index] ?? "?"));
    byEntry.set(output.entry, known);
  });
  return (
    <ul class="tx-outputs tx-mono">
      <More items={[...byEntry]} few={FEW_OUTPUTS}>
        {([entry, { sizes, number }]) => (
          <li key={entry}>
            {outputName(program, entry)}: {number ? sizes.join() : `[${sizes.join(", ")}]`}
          </li>
        )}
      </More>
    </ul>
  );
}

/** `output 0`, counted as the caller does; `logits` where the result has names. */
function outputName(program: Program, entry: number): string {
  const { outputs } = program.record.signature;
  const path = outputs[entry]?.path ?? "";
  if (path && !/^\d/.test(path)) return capped(path, 60);
  if (path) return `output ${capped(path, 60)}`;
  const before = outputs.slice(0, entry).filter((each) => each.kind === "user_output");
  return `output ${before.length}`;
}
