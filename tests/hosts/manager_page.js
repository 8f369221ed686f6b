/**
 * A page that holds widgets by `@vscode/jupyter-ipywidgets8`, as VS Code's output of a notebook does.
 * The kernel's side of a comm is `window.kernelSend`, which answers with all that the kernel says.
 *
 * `?drop` leaves out the binary buffers of every widget's state, as Colab's manager does.
 */
import { activate } from "/ipywidgets.js";

const DROPS = new URLSearchParams(location.search).has("drop");
const signal = () => ({ connect() {}, disconnect() {} });
const comms = new Map();
const targets = new Map();

const bytes = (text) => {
  const binary = atob(text);
  return new DataView(Uint8Array.from(binary, (each) => each.charCodeAt(0)).buffer);
};
const packed = (buffer) => {
  const whole = ArrayBuffer.isView(buffer)
    ? new Uint8Array(buffer.buffer, buffer.byteOffset, buffer.byteLength)
    : new Uint8Array(buffer);
  return btoa(Array.from(whole, (each) => String.fromCharCode(each)).join(""));
};

let sent = 0;
function commOf(commId, targetName) {
  const tell = (type, data, buffers = []) => {
    const future = { msg: { header: { msg_id: `m${sent++}` } }, done: Promise.resolve() };
    const idle = { header: { msg_type: "status" }, content: { execution_state: "idle" } };
    const said = { type, comm_id: commId, data, buffers: buffers.map(packed) };
    kernelSend(said)
      .then(receive)
      .then(() => future.onIOPub?.(idle));
    return future;
  };
  const comm = {
    commId,
    targetName,
    isDisposed: false,
    open: (data, _, buffers) => tell("comm_open", data, buffers),
    send: (data, _, buffers) => tell("comm_msg", data, buffers),
    close: () => tell("comm_close", {}),
    dispose() {},
  };
  comms.set(commId, comm);
  return comm;
}

const kernel = {
  id: "kernel",
  name: "python3",
  status: "idle",
  handleComms: true,
  statusChanged: signal(),
  connectionStatusChanged: signal(),
  iopubMessage: signal(),
  unhandledMessage: signal(),
  registerCommTarget: (name, callback) => targets.set(name, callback),
  removeCommTarget() {},
  requestCommInfo: async () => ({ content: { status: "ok", comms: {} } }),
  createComm: (target, id) => commOf(id, target),
};

/** Without what is binary in a widget's state: neither the buffers nor their places. */
function withoutBuffers(message) {
  const { data } = message;
  const isState = message.type === "comm_open" || data.method === "update";
  if (!DROPS || !isState) return message;
  return { ...message, data: { ...data, buffer_paths: [] }, buffers: [] };
}

/** One message after the other, as a connection to a kernel handles them. */
let line = Promise.resolve();
function receive(messages) {
  for (const each of messages) line = line.then(() => handle(withoutBuffers(each)));
  return line.catch((error) => console.error(`a message failed: ${error}`));
}

async function handle({ type, comm_id, target_name, data, buffers }) {
  const content = { comm_id, target_name, data };
  const message = { content, metadata: { version: "2.1.0" }, buffers: buffers.map(bytes) };
  if (type === "comm_open") await targets.get(target_name)?.(commOf(comm_id, target_name), message);
  else if (type === "comm_msg") await comms.get(comm_id)?.onMsg?.(message);
  else comms.get(comm_id)?.onClose?.(message);
}

/** Widgets of other packages come from `share/jupyter/nbextensions` of the kernel's Python. */
const scriptLoader = {
  widgetsRegisteredInRequireJs: new Set(),
  async loadWidgetScript(name) {
    requirejs.config({ paths: { [name]: `/nbextensions/${name}/index` } });
  },
  successHandler() {},
  errorHandler: (name, module, _, error) => console.error(`${name} of ${module}: ${error}`),
};

activate();
window.vscIPyWidgets8.load();
const home = document.getElementById("widgets");
const manager = new window.vscIPyWidgets.WidgetManager(kernel, home, scriptLoader, () => {});
setInterval(() => kernelSend(null).then(receive), 300);

/** Shows a widget, as the output of a cell. */
window.show = async (id) => {
  await kernelSend(null).then(receive);
  const view = await manager.create_view(await manager.get_model(id));
  await manager.display_view(null, view, { node: home });
};
