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
import { LastExport } from "./last_export";
import { Marking } from "./marking";
import { Matching } from "./matching";
import { ReadOnlyTabs } from "./read_only_tab";
import { ask } from "./server";
import { type SettingRegistry, settingsOf } from "./settings";
import { type App, type Services, shared } from "./shared_modules";

const ID = "export-explorer:editor";

export async function editorPlugin() {
  const modules = await editorModules();
  const services = await shared<Services>("@jupyterlab/services");
  const { codemirror, state, view } = modules;
  return {
    id: ID,
    description: "Links lines of cells and files to the ops that come from them",
    autoStart: true,
    requires: [
      modules.notebook.INotebookTracker,
      modules.fileeditor.IEditorTracker,
      codemirror.IEditorExtensionRegistry,
      modules.codeeditor.IEditorServices,
    ],
    optional: [modules.apputils.ICommandPalette, modules.settingregistry.ISettingRegistry],
    activate(
      app: App,
      notebooks: Tracker<NotebookPanel>,
      files: Tracker<FileWidget>,
      extensions: Extensions,
      editors: EditorServices,
      palette: Palette | null,
      registry: SettingRegistry | null,
    ) {
      const settings = settingsOf(registry, ID, ({ lastExport: where }) => {
        marking.later();
        lastExport.follow(where === "cell" ? null : where);
      });
      const documents = new Documents(app, notebooks, files, rootsOf(app, services));
      const readOnly = new ReadOnlyTabs(app, modules, editors);
      const matching = new Matching(documents, readOnly);
      const writer = new CodeWriter(documents, modules);
      const lastExport = new LastExport(app, modules.lumino, documents);
      const editor = new LabEditor(documents, readOnly, writer, matching, settings);
      const marking = new Marking(state, view, documents, matching, settings, editor.views);
      editor.onViews((arrived) => {
        marking.later();
        if (arrived) lastExport.arrived(arrived);
      });
      extensions.addExtension({
        name: "export-explorer",
        factory: ({ model: { sharedModel } }) =>
          codemirror.EditorExtensionRegistry.createImmutableExtension([
            view.EditorView.updateListener.of((update) => editor.updated(sharedModel, update)),
            marking.squiggles.extension(sharedModel),
          ]),
      });
      const { squiggles } = marking;
      addCommands(app, palette, { editor, documents, notebooks, squiggles, lastExport });
      offerEditor(editor);
    },
  };
}

/** The served folder, requested once; none if the server does not report it. */
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
