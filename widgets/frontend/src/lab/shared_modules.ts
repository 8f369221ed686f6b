/**
 * JupyterLab's own modules, which it shares with its extensions by webpack's module federation. No
 * bundler of JupyterLab's is needed for that: a container is an object with `init` and `get`. Only
 * what is used here is typed.
 */

interface Version {
  get(): Promise<() => unknown>;
}

/** Per package, its versions. */
export type Scope = { [name: string]: { [version: string]: Version } | undefined };

export interface Widget {
  node: HTMLElement;
  id: string;
  title: { label: string; caption: string; iconClass: string };
  disposed: { connect(callback: () => void): void };
  dispose(): void;
}

export interface Docregistry {
  ABCWidgetFactory: new (options: object) => object;
  DocumentWidget: new (options: { content: Widget; context: Context }) => Widget;
  TextModelFactory: new () => object;
}

export interface Lumino {
  Widget: new () => Widget;
}

export interface Services {
  ServerConnection: {
    makeRequest(url: string, init: object, settings: Settings): Promise<Response>;
  };
}

export interface Settings {
  baseUrl: string;
}

export interface Context {
  path: string;
  ready: Promise<void>;
}

export interface Notebook {
  context: { ready: Promise<void> };
  content: { activeCell: { model: { sharedModel: { setSource(text: string): void } } } | null };
}

export interface App {
  docRegistry: {
    addFileType(type: object): void;
    addModelFactory(factory: object): void;
    addWidgetFactory(factory: object): void;
  };
  commands: {
    execute(id: string, args: object): Promise<unknown>;
    addCommand(id: string, options: object): void;
  };
  contextMenu: { addItem(item: { command: string; selector: string; rank: number }): void };
  shell: {
    add(widget: Widget, area: string, options: object): void;
    activateById(id: string): void;
  };
  serviceManager: {
    serverSettings: Settings;
    kernelspecs: { ready: Promise<void>; specs: { default: string } | null };
  };
}

let scope: Scope = {};

/** Takes what JupyterLab shares. */
export function share(given: Scope): void {
  scope = given;
}

/** A module of JupyterLab's. Rejects with a sentence if this JupyterLab does not share it. */
export async function shared<Module>(name: string): Promise<Module> {
  const version = Object.values(scope[name] ?? {})[0];
  if (!version) throw new Error(`Export Explorer needs ${name}, which this JupyterLab lacks.`);
  return (await version.get())() as Module;
}
