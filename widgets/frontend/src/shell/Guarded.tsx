/** An error boundary: a part that fails shows its error in place, and the rest keeps working. */

import { Component, type ComponentChildren } from "preact";
import { LongText } from "../panes/parts/parts";
import type { Program } from "../program";
import { logged, reportOf } from "./trouble";

interface GuardedProps {
  /** The name of the failed part: `Source`. */
  name: string;
  /** Its content: with a different one, it is tried again. */
  program: Program | null;
  children: ComponentChildren;
}

interface State {
  error: unknown;
  failed: boolean;
}

export class Guarded extends Component<GuardedProps, State> {
  override state: State = { error: null, failed: false };

  override componentDidCatch(error: unknown): void {
    logged(this.props.name, error);
    this.setState({ error, failed: true });
  }

  override componentDidUpdate(before: GuardedProps): void {
    if (before.program !== this.props.program && this.state.failed) this.again();
  }

  private readonly again = (): void => this.setState({ error: null, failed: false });

  override render() {
    const { name, program, children } = this.props;
    const { error, failed } = this.state;
    if (!failed) return children;
    return <Trouble name={name} report={reportOf(name, error, program)} again={this.again} />;
  }
}

interface TroubleProps {
  name: string;
  report: string;
  again: () => void;
}

function Trouble({ name, report, again }: TroubleProps) {
  return (
    <section class="tx-panel tx-trouble" role="alert" data-testid="trouble">
      <p>
        {name} cannot be shown, by a bug of Export Explorer. The rest of the view goes on; please
        report it.
      </p>
      <p>
        <button type="button" class="tx-button" onClick={again}>
          Try again
        </button>{" "}
        <button
          type="button"
          class="tx-button"
          onClick={() => void navigator.clipboard?.writeText(report)}
        >
          Copy a report
        </button>
      </p>
      <details>
        <summary>The report</summary>
        <LongText name="The report">{report}</LongText>
      </details>
    </section>
  );
}
