/** The extension of JupyterLab: `.pt2` files open and are compared in tabs, and editors are linked with views. */

import { comparePlugin } from "./compare_plugin";
import { editorPlugin } from "./editor_plugin";
import { fill } from "./program_tab";
import type { App, Context, Docregistry, Lumino, Scope, Services } from "./shared_modules";
import { share, shared } from "./shared_modules";

const TYPE = "pt2";
const NOTHING = "export-explorer:nothing";

async function plugin() {
  const [docregistry, lumino, services] = await Promise.all([
    shared<Docregistry>("@jupyterlab/docregistry"),
    shared<Lumino>("@lumino/widgets"),
    shared<Services>("@jupyterlab/services"),
  ]);
  return {
    id: "export-explorer:plugin",
    description: "Opens .pt2 files: exported programs of PyTorch",
    autoStart: true,
    activate(app: App) {
      app.docRegistry.addFileType({
        name: TYPE,
        displayName: "Exported program",
        extensions: [".pt2"],
        mimeTypes: ["application/x-pt2"],
        contentType: "file",
        fileFormat: "base64",
      });
      app.docRegistry.addModelFactory(new (withoutContent(docregistry))());
      app.docRegistry.addWidgetFactory(new (tabs(docregistry, lumino, services, app))());
    },
  };
}

/** A model that leaves the file where it is: a program may have gigabytes of weights. */
function withoutContent({ TextModelFactory }: Docregistry) {
  return class extends TextModelFactory {
    get name() {
      return NOTHING;
    }
    get contentType() {
      return "file";
    }
    get fileFormat() {
      return null;
    }
  };
}

function tabs(docregistry: Docregistry, lumino: Lumino, services: Services, app: App) {
  return class extends docregistry.ABCWidgetFactory {
    constructor() {
      super({
        name: "Export Explorer",
        modelName: NOTHING,
        fileTypes: [TYPE],
        defaultFor: [TYPE],
        readOnly: true,
      });
    }
    createNewWidget(context: Context) {
      const content = new lumino.Widget();
      const unmount = fill(content.node, app, services, context);
      content.disposed.connect(unmount);
      const tab = new docregistry.DocumentWidget({ content, context });
      tab.title.iconClass = "jp-MaterialIcon jp-FileIcon"; // as in the list of files
      return tab;
    }
  };
}

/** The entry point for JupyterLab: a container of webpack's module federation. */
const containers = globalThis as { _JUPYTERLAB?: { [name: string]: object } };
containers._JUPYTERLAB ??= {};
containers._JUPYTERLAB["export-explorer"] = {
  init: share,
  async get() {
    const found = [await plugin(), await comparePlugin(), await editorPlugin()];
    return () => ({ __esModule: true, default: found });
  },
} satisfies { init(scope: Scope): void; get(): Promise<() => object> };
