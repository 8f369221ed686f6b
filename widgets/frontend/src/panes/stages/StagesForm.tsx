/** The compiler to use, and the button that starts it. */

import { useState } from "preact/hooks";
import type { Store } from "../../store";
import { Expected } from "../parts/Expected";

const BACKENDS: readonly [string, string][] = [
  ["inductor", "torch.compile"],
  ["aoti", "AOTInductor"],
  ["onnx", "ONNX Runtime"],
  ["openvino", "OpenVINO"],
  ["executorch", "ExecuTorch"],
];

/** Of Inductor's options, what most often changes kernels; each is compared with the defaults. */
const SETTINGS: readonly [options: { [name: string]: boolean }, text: string][] = [
  [{}, "default settings"],
  [{ max_autotune: true }, "max_autotune"],
  [{ freezing: true }, "freezing"],
  [{ epilogue_fusion: false }, "without epilogue fusion"],
];

interface Props {
  store: Store;
  /** Whether the program is a training step, which Inductor alone compiles. */
  step: boolean;
}

export function StagesForm({ store, step }: Props) {
  const [backend, setBackend] = useState("inductor");
  const [setting, setSetting] = useState(0);
  const busy = store.busy.value;
  const isInductor = backend === "inductor" || backend === "aoti";
  const options = isInductor ? (SETTINGS[setting]?.[0] ?? {}) : {};
  return (
    <form
      class="tx-run-form"
      onSubmit={(event) => {
        event.preventDefault();
        if (!busy) void store.stages(backend, "cpu", options);
      }}
    >
      <div class="tx-filters">
        <select
          class="tx-input"
          aria-label="Compiler"
          value={backend}
          data-testid="stages-backend"
          onChange={(event) => setBackend(event.currentTarget.value)}
        >
          {(step ? BACKENDS.slice(0, 1) : BACKENDS).map(([name, title]) => (
            <option key={name} value={name}>
              {title}
            </option>
          ))}
        </select>
        <select
          class="tx-input"
          aria-label="Settings of the compiler"
          value={setting}
          disabled={!isInductor}
          data-testid="stages-setting"
          onChange={(event) => setSetting(Number(event.currentTarget.value))}
        >
          {SETTINGS.map(([, text], index) => (
            <option key={text} value={index}>
              {text}
            </option>
          ))}
        </select>
        <button
          type="submit"
          class="tx-button tx-primary"
          disabled={busy}
          title="Shows the kernels of the program, their ops, lines and times"
          data-testid="stages-run"
        >
          {isInductor ? "Compile" : "Convert"}
        </button>
        <Expected store={store} action={isInductor ? "Compiling" : "Converting"}>
          {isInductor ? "tens of seconds, Stop at any time" : "and run: seconds, Stop at any time"}
        </Expected>
      </div>
    </form>
  );
}
