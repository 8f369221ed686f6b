/** The parts of anywidget's models and of JupyterLab's notebooks that are used here. */

import type { Kernel } from "./kernel_watch";

/** The part of an anywidget model that is used here. */
export interface Model {
  get(name: string): unknown;
  send(content: unknown): void;
  on(event: string, callback: (...args: never[]) => void): void;
  off(event: string, callback: (...args: never[]) => void): void;
  /** JupyterLab's manager of widgets, which knows the kernel. */
  widget_manager?: WidgetManager;
}

export interface WidgetManager {
  kernel?: Kernel | null;
  context?: Notebook;
  /** A model by its id, of any package; throws or rejects if there is none. */
  get_model?(id: string): Promise<Model>;
}

interface Output {
  readonly data?: { readonly [mime: string]: unknown };
}

interface Listed<T> {
  readonly length: number;
  get(index: number): T;
}

/** The part of a notebook of JupyterLab's that is used here. */
export interface Notebook {
  /** Below the server's root. */
  readonly path?: string;
  readonly saveState: { connect(slot: (sender: unknown, state: string) => void): unknown };
  readonly model: {
    readonly contentChanged?: { connect(slot: () => void): unknown };
    /** Null once the notebook is closed. */
    readonly cells: Listed<{ readonly outputs?: Listed<Output> }> | null;
    getMetadata(key: string): unknown;
    setMetadata(key: string, value: unknown): void;
  };
}
