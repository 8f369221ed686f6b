/** Links the editors of JupyterLab with the views in it. */

import { offerEditor } from "../editor_link/link";
import { CodeWriter } from "./code_writer";
import { addCommands, type Palette } from "./commands";
import { Documents } from "./documents";
import {
  type EditorServices,
  type Extensions,
  editorModules,
  type FileWidget,
  type NotebookPanel,
  type Tracker,
} from "./editor_modules";
import { LabEditor } from "./lab_editor";
import { Marking } from "./marking";
import { Matching } from "./matching";
import { ReadOnlyTabs } from "./read_only_tab";
import { ask } from "./server";
import { type App, type Services, shared } from "./shared_modules";

export async function editorPlugin() {
  const modules = await editorModules();
  const services = await shared<Services>("@jupyterlab/services");
  const { codemirror, state, view } = modules;
  return {
    id: "export-explorer:editor",
    description: "Links the lines of cells and files with the ops that they made",
    autoStart: true,
    requires: [
      modules.notebook.INotebookTracker,
      modules.fileeditor.IEditorTracker,
      codemirror.IEditorExtensionRegistry,
      modules.codeeditor.IEditorServices,
    ],
    optional: [modules.apputils.ICommandPalette],
    activate(
      app: App,
      notebooks: Tracker<NotebookPanel>,
      files: Tracker<FileWidget>,
      extensions: Extensions,
      editors: EditorServices,
      palette: Palette | null,
    ) {
      const documents = new Documents(app, notebooks, files, rootsOf(app, services));
      const readOnly = new ReadOnlyTabs(app, modules, editors);
      const matching = new Matching(documents, readOnly);
      const writer = new CodeWriter(documents, modules);
      const editor = new LabEditor(documents, readOnly, writer, matching);
      const marking = new Marking(state, view, documents, matching, editor.views);
      editor.onViews(() => marking.later());
      extensions.addExtension({
        name: "export-explorer",
        factory: ({ model: { sharedModel } }) =>
          codemirror.EditorExtensionRegistry.createImmutableExtension([
            view.EditorView.updateListener.of((update) => editor.updated(sharedModel, update)),
            marking.squiggles.extension(sharedModel),
          ]),
      });
      addCommands(app, palette, { editor, documents, notebooks, squiggles: marking.squiggles });
      offerEditor(editor);
    },
  };
}

/** The folder that is served, asked for once; where the server does not say, none is. */
function rootsOf(app: App, services: Services): () => Promise<readonly string[]> {
  let roots: Promise<readonly string[]> | undefined;
  return () => {
    roots ??= ask(app, services, "root")
      .then((reply) => reply.json())
      .then(({ roots }: { roots: string[] }) => roots)
      .catch((error: unknown) => {
        console.warn(`export-explorer: files open read only: ${error}`);
        return [];
      });
    return roots;
  };
}
