/** The page of a program: shows the messages of the extension, and acts as the editor of its view. */

import {
  type Editor,
  offerEditor,
  VERSION,
  type View,
} from "../../../../widgets/frontend/src/editor_link/link";
import type { Frozen } from "../../../../widgets/frontend/src/messages.gen";
import type { Cure, ExportedSource, ToExtension, ToPage } from "../protocol";

interface FrontEnd {
  mountPage(frozen: Frozen, el: HTMLElement): () => void;
}

declare function acquireVsCodeApi(): { postMessage(message: ToExtension): void };

const extension = acquireVsCodeApi();
const home = document.getElementById("program") as HTMLElement;
const CURES: Record<Cure, string> = {
  retry: "Try Again",
  "select-python": "Select Python Interpreter",
  settings: "Open Settings",
};

let unmount = (): void => {};
let view: View | null = null;
/** Requests to the extension, by number. */
const asked = new Map<number, { resolve(): void; reject(error: Error): void }>();
let last = 0;

const editor: Editor = {
  version: VERSION,
  join(joined) {
    view = joined;
    const stop = joined.onChange(() => void tellSources(joined));
    return () => {
      stop();
      if (view === joined) view = null;
    };
  },
  open: (_, place) =>
    new Promise((resolve, reject) => {
      asked.set(++last, { resolve, reject });
      extension.postMessage({ kind: "open", id: last, place });
    }),
  write: () => Promise.reject(new Error("A .pt2 file has no code to write into.")),
};

/** Tells the extension which texts the program on screen was made from. */
async function tellSources(joined: View): Promise<void> {
  const sources: ExportedSource[] = await Promise.all(
    joined.sources().map(async ({ path, name, origin }, file) => {
      const known = origin !== "torch" && origin !== "generated";
      const text = known ? await joined.text(file).catch(() => null) : null; // not in the page
      return { path, name, origin, text };
    }),
  );
  if (view === joined) extension.postMessage({ kind: "sources", sources });
}

async function show({ frontEnd, page }: { frontEnd: string; page: string }): Promise<void> {
  try {
    const { mountPage } = (await import(frontEnd)) as FrontEnd;
    unmount();
    home.removeAttribute("role");
    unmount = mountPage(JSON.parse(page) as Frozen, home);
  } catch (error) {
    fail({ sentence: `The view cannot start: ${error}`, command: "", cures: ["retry"] });
  }
}

/** Whatever a file or a Python said is set as text. */
function fail(said: { sentence: string; command: string; cures: readonly Cure[] }): void {
  unmount();
  unmount = () => {};
  const note = document.createElement("div");
  note.className = "failed";
  note.setAttribute("role", "alert");
  const add = <K extends "p" | "code" | "button">(tag: K, text: string) => {
    const part = document.createElement(tag);
    part.textContent = text;
    note.append(part);
    return part;
  };
  add("p", said.sentence);
  if (said.command) add("code", said.command);
  for (const cure of said.cures) {
    const button = add("button", CURES[cure]);
    button.addEventListener("click", () => extension.postMessage({ kind: "cure", cure }));
  }
  home.removeAttribute("role");
  home.replaceChildren(note);
}

window.addEventListener("message", ({ data }: MessageEvent<ToPage>) => {
  switch (data.kind) {
    case "show":
      return void show(data);
    case "failed":
      return fail(data);
    case "follow":
      return view?.follow(data.place);
    case "done": {
      const waiting = asked.get(data.id);
      asked.delete(data.id);
      if (data.refused) waiting?.reject(new Error(data.refused));
      else waiting?.resolve();
    }
  }
});

offerEditor(editor);
extension.postMessage({ kind: "ready" });
