/** The parts of JupyterLab's notebooks and editors that are used here, and the modules they are of. */

import type { Widget } from "./shared_modules";
import { shared } from "./shared_modules";

interface Told {
  connect(slot: () => void): unknown;
  disconnect(slot: () => void): unknown;
}

/** The text of a cell or a file, shared by all its editors; its undo is theirs. */
export interface SharedText {
  getSource(): string;
  setSource(text: string): void;
  updateSource(start: number, end: number, text: string): void;
  /** What is done inside is one step of undo. */
  transact(change: () => void): void;
  undoManager?: { stopCapturing?: () => void };
  /** Also reports a cell's execution count. */
  changed?: Told;
}

export interface CodeEditor {
  setCursorPosition(at: { line: number; column: number }): void;
  revealPosition(at: { line: number; column: number }): void;
  focus(): void;
}

export interface CellWidget {
  node: HTMLElement;
  disposed: Widget["disposed"];
  /** Another widget of the cell's outputs, which follows them; of code cells only. */
  cloneOutputArea?(): Widget;
  model: { type: string; executionCount?: number | null; sharedModel: SharedText };
  editor: CodeEditor | null;
  ready: Promise<void>;
}

export interface NotebookPanel extends Widget {
  context: { path: string };
  content: {
    widgets: readonly CellWidget[];
    activeCellIndex: number;
    mode: "command" | "edit";
    scrollToItem(index: number, align: "smart"): Promise<void>;
  };
}

export interface FileWidget extends Widget {
  context: { path: string; ready: Promise<void> };
  content: { editor: CodeEditor; ready: Promise<void>; model: { sharedModel: SharedText } };
}

export interface Tracker<Found> {
  currentWidget: Found | null;
  forEach(callback: (found: Found) => void): void;
}

/** The options of an editor. */
interface EditorOptions {
  model: { sharedModel: SharedText };
}

export interface Extensions {
  addExtension(extension: { name: string; factory(options: EditorOptions): object }): void;
}

/** An editor of CodeMirror's, after something happened in it. */
export interface Update {
  transactions: readonly { docChanged: boolean; isUserEvent(event: string): boolean }[];
  state: {
    doc: { toString(): string; lineAt(at: number): { number: number } };
    selection: { main: { head: number } };
  };
}

/** A value put into an editor, with its own type. */
interface Effect<T> {
  value: T;
}

interface EffectType<T> {
  of(value: T): Effect<T>;
}

interface Transaction {
  docChanged: boolean;
  effects: readonly { is<T>(type: EffectType<T>): this is Effect<T> }[];
}

/** A value in an editor. */
interface Field<T> {
  create(): T;
  update(held: T, transaction: Transaction): T;
  provide(field: object): object;
}

export interface CodeMirrorState {
  StateEffect: { define<T>(): EffectType<T> };
  StateField: { define<T>(field: Field<T>): FieldOf<T> };
}

interface FieldOf<T> {
  /** Only tells one type from another. */
  readonly holds?: T;
}

export interface EditorView {
  state: { field<T>(field: FieldOf<T>): T };
  dispatch(transaction: { effects: object }): void;
}

interface Tooltip {
  pos: number;
  end: number;
  above: boolean;
  create(): { dom: HTMLElement };
}

export interface CodeMirrorView {
  EditorView: {
    updateListener: { of(listener: (update: Update) => void): object };
    decorations: { from<T>(field: object, get: (held: T) => object): object };
  };
  Decoration: {
    set(ranges: readonly object[], sort: boolean): object;
    mark(spec: { class: string }): { range(from: number, to: number): object };
  };
  ViewPlugin: { define(create: (view: EditorView) => { destroy(): void }): object };
  hoverTooltip(source: (view: EditorView, at: number) => Tooltip | null): object;
}

interface CodeMirror {
  IEditorExtensionRegistry: object;
  EditorExtensionRegistry: { createImmutableExtension(extension: object): object };
}

export interface CodeEditors {
  IEditorServices: object;
  CodeEditor: { Model: new (options: object) => { sharedModel: SharedText } };
  CodeEditorWrapper: new (options: object) => Widget & { editor: CodeEditor };
}

export interface EditorServices {
  factoryService: { newDocumentEditor(options: object): object };
}

interface Button {
  accept: boolean;
}

interface Apputils {
  ICommandPalette: object;
  showDialog(options: object): Promise<{ button: Button }>;
  Dialog: { cancelButton(): Button; okButton(options: { label: string }): Button };
  MainAreaWidget: new (options: { content: Widget }) => Widget;
}

export interface Panel extends Widget {
  addWidget(widget: Widget): void;
  widgets: readonly Widget[];
}

export interface Panels {
  Panel: new () => Panel;
  Widget: new (options: { node: HTMLElement }) => Widget;
}

export interface EditorModules {
  notebook: { INotebookTracker: object };
  fileeditor: { IEditorTracker: object };
  codemirror: CodeMirror;
  view: CodeMirrorView;
  state: CodeMirrorState;
  codeeditor: CodeEditors;
  apputils: Apputils;
  lumino: Panels;
  settingregistry: { ISettingRegistry: object };
}

const NAMES: { [module in keyof EditorModules]: string } = {
  notebook: "@jupyterlab/notebook",
  fileeditor: "@jupyterlab/fileeditor",
  codemirror: "@jupyterlab/codemirror",
  view: "@codemirror/view",
  state: "@codemirror/state",
  codeeditor: "@jupyterlab/codeeditor",
  apputils: "@jupyterlab/apputils",
  lumino: "@lumino/widgets",
  settingregistry: "@jupyterlab/settingregistry",
};

export async function editorModules(): Promise<EditorModules> {
  const found = Object.entries(NAMES).map(async ([module, name]) => [module, await shared(name)]);
  return Object.fromEntries(await Promise.all(found));
}
