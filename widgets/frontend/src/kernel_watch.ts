/**
 * Watches the kernel behind a view. JupyterLab's widget manager reports its state; elsewhere the
 * page only learns that a message cannot be sent.
 */

/** A signal of JupyterLab's. */
interface Told<T> {
  connect(slot: (sender: unknown, value: T) => void): unknown;
  disconnect(slot: (sender: unknown, value: T) => void): unknown;
}

/** The part of JupyterLab's connection to a kernel that is used here. */
export interface Kernel {
  interrupt?: () => Promise<void>;
  readonly isDisposed?: boolean;
  readonly connectionStatus?: string;
  readonly status?: string;
  readonly statusChanged?: Told<string>;
  readonly connectionStatusChanged?: Told<string>;
  readonly disposed?: Told<unknown>;
}

const RESTARTED = "The kernel was restarted";
const DIED = "The kernel died";
const ENDED = "The kernel was shut down";
const AWAY = "The connection to the kernel is lost";
/** The meaning of a kernel's status for its view: that kernel is gone. */
const ENDS: { [status: string]: string } = {
  restarting: RESTARTED,
  autorestarting: `${DIED} and was restarted`,
  dead: DIED,
  terminating: ENDED,
};
/** A connection that comes back within this time was not lost. */
const PATIENCE_MS = 2500;

/** Says what became of a kernel. An end is final; a lost connection may come back. */
export class KernelWatch {
  /** `The kernel was restarted`; empty while it answers. */
  lost = "";
  private timer: ReturnType<typeof setTimeout> | undefined;
  private ended = false;

  /** @param changed called whenever `lost` is another */
  constructor(
    private readonly kernel: Kernel | null | undefined,
    private readonly changed: () => void,
  ) {
    kernel?.statusChanged?.connect(this.status);
    kernel?.connectionStatusChanged?.connect(this.connection);
    kernel?.disposed?.connect(this.disposed);
    if (kernel?.isDisposed) this.end(ENDED);
    else if (kernel?.connectionStatus === "disconnected") this.say(AWAY);
  }

  /** A message could not be sent at all. */
  unreachable(): void {
    this.end(ENDED);
  }

  dispose(): void {
    clearTimeout(this.timer);
    this.kernel?.statusChanged?.disconnect(this.status);
    this.kernel?.connectionStatusChanged?.disconnect(this.connection);
    this.kernel?.disposed?.disconnect(this.disposed);
  }

  private readonly status = (_: unknown, status: string): void => {
    const end = ENDS[status];
    if (end) this.end(end);
  };

  private readonly connection = (_: unknown, status: string): void => {
    clearTimeout(this.timer);
    if (status === "connected") this.say("");
    else if (status === "disconnected") this.say(AWAY);
    else this.timer = setTimeout(() => this.say(AWAY), PATIENCE_MS);
  };

  private readonly disposed = (): void => this.end(ENDED);

  /** The first message is the reason. */
  private end(why: string): void {
    if (this.ended) return;
    clearTimeout(this.timer);
    this.say(why);
    this.ended = true;
  }

  private say(why: string): void {
    if (this.ended || this.lost === why) return;
    this.lost = why;
    this.changed();
  }
}
