/** A read-only text in its own editor: a file of an installed package. */

import { moveTo } from "./documents";
import type { CodeEditor, EditorModules, EditorServices, SharedText } from "./editor_modules";
import type { App, Widget } from "./shared_modules";

interface Tab {
  widget: Widget;
  editor: CodeEditor;
  text: SharedText;
}

export class ReadOnlyTabs {
  private readonly open = new Map<string, Tab>();
  private made = 0;

  constructor(
    private readonly app: App,
    private readonly modules: EditorModules,
    private readonly services: EditorServices,
  ) {}

  /** Shows a line, from 1, of a text. */
  show(path: string, name: string, text: string, line: number, beside: Widget | undefined): void {
    let tab = this.open.get(path);
    if (!tab) {
      tab = this.make(path, name, beside);
      this.open.set(path, tab);
    }
    if (tab.text.getSource() !== text) tab.text.setSource(text);
    this.app.shell.activateById(tab.widget.id);
    moveTo(tab.editor, line);
  }

  /** The path of the file that a text is of; null for any other. */
  pathOf(text: SharedText): string | null {
    for (const [path, tab] of this.open) if (tab.text === text) return path;
    return null;
  }

  private make(path: string, name: string, beside: Widget | undefined): Tab {
    const { CodeEditor, CodeEditorWrapper } = this.modules.codeeditor;
    const model = new CodeEditor.Model({ mimeType: "text/x-python" });
    const { factoryService } = this.services;
    const content = new CodeEditorWrapper({
      model,
      factory: (options: object) => factoryService.newDocumentEditor(options),
      editorOptions: { config: { readOnly: true, lineNumbers: true } },
    });
    content.node.style.overflow = "auto"; // else nothing of a long text could be scrolled to
    const widget = new this.modules.apputils.MainAreaWidget({ content });
    widget.id = `export-explorer-source-${++this.made}`;
    const label = name.split("/").at(-1) ?? name;
    Object.assign(widget.title, {
      label: `${label} (read only)`,
      caption: `${path}, as it was exported`,
      closable: true,
    });
    widget.disposed.connect(() => this.open.delete(path));
    const place = beside ? { mode: "split-left", ref: beside.id } : {};
    this.app.shell.add(widget, "main", place);
    return { widget, editor: content.editor, text: model.sharedModel };
  }
}
