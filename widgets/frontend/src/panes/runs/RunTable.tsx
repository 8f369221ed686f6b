/** The results of running the program: a table for each device and set of inputs. */

import { capped, durationText } from "../../format";
import type { Program } from "../../program";
import type { RunRow, RunTimes } from "../../record.gen";
import type { Store } from "../../store";
import { LongText, Prose, Sentence } from "../parts/parts";
import { baseOf, besideOf, detailsOf, speedOf } from "./run_facts";

interface Props {
  store: Store;
  program: Program;
  title: string;
  rows: RunRow[];
}

export function RunTable({ store, program, title, rows }: Props) {
  const base = baseOf(rows);
  const most = Math.max(...rows.map((row) => row.times?.median ?? 0));
  return (
    <table class="tx-table tx-runs" data-result={title}>
      <caption>{capped(title, 200)}</caption>
      <thead>
        <tr>
          <th>Run by</th>
          <th class="tx-number">Warm call</th>
          <th class="tx-number">{besideOf(rows)}</th>
          <th class="tx-number">Error</th>
        </tr>
      </thead>
      {rows.map((row) => (
        <tbody key={`${row.backend} ${row.where}`} data-testid={`run-${row.backend}`}>
          {row.times ? (
            <Timed row={row} times={row.times} base={base} />
          ) : (
            <tr>
              <th scope="row" class="tx-run-name">
                <Name row={row} />
              </th>
              <td colSpan={3} class={row.outcome === "failed" ? "tx-run-bad" : "tx-lead"}>
                <Why row={row} />
              </td>
            </tr>
          )}
          {row.times && (
            <tr class="tx-run-more">
              <td colSpan={4}>
                <div class="tx-bar" style={{ width: `${(100 * row.times.median) / most}%` }} />
                <span title={capped(row.saved)}>{detailsOf(row, row.times)}</span>
                {row.outcome === "differs" && (
                  <p class="tx-run-bad">
                    <Sentence
                      store={store}
                      program={program}
                      text={row.sentence}
                      node={row.node}
                      origin="runs"
                    />
                  </p>
                )}
              </td>
            </tr>
          )}
        </tbody>
      ))}
    </table>
  );
}

const MARKS: { [outcome in RunRow["outcome"]]: string } = {
  agrees: "✓",
  differs: "✗",
  refused: "–",
  failed: "✗",
  unavailable: "–",
};

function Name({ row }: { row: RunRow }) {
  return (
    <>
      <span class={`tx-run-mark tx-run-${row.outcome}`} title={row.outcome} aria-hidden="true">
        {MARKS[row.outcome]}
      </span>
      <span class="tx-hidden">{row.outcome}: </span>
      {capped(row.title, 60)}
      {row.where && <span class="tx-lead"> on {capped(row.where, 40)}</span>}
    </>
  );
}

interface TimedProps {
  row: RunRow;
  times: RunTimes;
  base: RunTimes | null;
}

function Timed({ row, times, base }: TimedProps) {
  return (
    <tr class="tx-run-head">
      <th scope="row" class="tx-run-name">
        <Name row={row} />
      </th>
      <td class="tx-number">{durationText(times.median)}</td>
      <td class="tx-number">
        {base && times.median && row.backend !== "eager" ? speedOf(times, base) : ""}
      </td>
      <td class="tx-number" title={errorTitle(row)}>
        {row.error ? errorText(row.error.absolute) : "∞"}
      </td>
    </tr>
  );
}

function Why({ row }: { row: RunRow }) {
  if (!row.detail) return <Prose text={row.sentence} most={400} />;
  return (
    <details>
      <summary class="tx-run-summary">
        <Prose text={row.sentence} most={400} />
      </summary>
      <LongText name="Details">{capped(row.detail, 4000)}</LongText>
    </details>
  );
}

const errorText = (error: number): string => (error === 0 ? "0" : error.toExponential(1));

function errorTitle({ error }: RunRow): string {
  if (!error) return "One is infinite, the other is finite";
  return [
    `largest absolute error ${errorText(error.absolute)}`,
    `largest relative error ${errorText(error.relative)}`,
    `largest distance ${error.ulps} ulp`,
  ].join("\n");
}
