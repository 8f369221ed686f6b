/** The open decisions of a guide: a button each, with its meaning and duration. */

import type { ReadonlySignal } from "@preact/signals";
import { useRef } from "preact/hooks";
import { capped } from "../format";
import type { Host } from "../host";
import { useTheme } from "../shell/useTheme";
import { Working } from "../shell/Working";
import type { Working as Work } from "../store";

export interface Choice {
  title: string;
  /** Its cost or result, and how long it takes. */
  means: string;
}

interface ChoicesProps {
  host: Host;
  choices: ReadonlySignal<readonly Choice[]>;
  working: ReadonlySignal<Work | null>;
  /** Why the last one came to nothing; empty if it did not. */
  problem: ReadonlySignal<string>;
  take: (number: number, choice: Choice) => void;
}

export function Choices({ host, choices, working, problem, take }: ChoicesProps) {
  const element = useRef<HTMLDivElement>(null);
  useTheme(element);
  const all = choices.value;
  const empty = all.length === 0 && !working.value && !problem.value;
  return (
    <div ref={element}>
      {!empty && (
        <section class="tx-guide" aria-label="To decide" data-testid="choices">
          <Working store={{ working, host } as Parameters<typeof Working>[0]["store"]} />
          {problem.value && (
            <p class="tx-alert" role="alert">
              {capped(problem.value, 1000)}
            </p>
          )}
          {all.map((each, number) => (
            <p key={`${number} ${each.title}`}>
              <button
                type="button"
                class="tx-button tx-primary"
                disabled={working.value !== null}
                onClick={() => take(number, each)}
              >
                {capped(each.title, 200)}
              </button>{" "}
              <span class="tx-lead">{capped(each.means, 400)}</span>
            </p>
          ))}
        </section>
      )}
    </div>
  );
}
