/** An anywidget's model without a notebook: traits in a map, and a kernel that is a function. */

export interface Sent {
  id: string;
  ask: string;
  [key: string]: unknown;
}

type Callback = (...args: never[]) => void;

export class FakeModel {
  readonly sent: Sent[] = [];
  private readonly callbacks = new Map<string, Set<Callback>>();

  constructor(
    readonly traits: { [name: string]: unknown },
    /** Answers a question; without it, nothing is answered until a test calls `reply`. */
    private readonly kernel?: (message: Sent, model: FakeModel) => void,
  ) {}

  get(name: string): unknown {
    return this.traits[name];
  }

  send(content: unknown): void {
    const message = content as Sent;
    this.sent.push(message);
    this.kernel?.(message, this);
  }

  on(event: string, callback: Callback): void {
    const known = this.callbacks.get(event) ?? new Set();
    this.callbacks.set(event, known.add(callback));
  }

  off(event: string, callback: Callback): void {
    this.callbacks.get(event)?.delete(callback);
  }

  /** A message from the kernel. */
  reply(content: object, buffers: DataView[] = []): void {
    this.fire("msg:custom", content, buffers);
  }

  set(name: string, value: unknown): void {
    this.traits[name] = value;
    this.fire(`change:${name}`);
  }

  /** How many callbacks are still there. */
  get listeners(): number {
    return [...this.callbacks.values()].reduce((sum, each) => sum + each.size, 0);
  }

  private fire(event: string, ...args: unknown[]): void {
    for (const callback of this.callbacks.get(event) ?? []) callback(...(args as never[]));
  }
}

export const bytesOf = (text: string): DataView =>
  new DataView(new TextEncoder().encode(text).buffer);
