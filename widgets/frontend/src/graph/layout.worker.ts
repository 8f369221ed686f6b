/**
 * The layout worker: Graphviz compiled to WebAssembly, off the page's own thread. Where a page
 * refuses workers, the page imports this same module and calls `loadPlacer` itself.
 */

import { Graphviz } from "@hpcc-js/wasm-graphviz";
import { reasonOf } from "../format";
import type { LayoutBox, LayoutReply, LayoutRequest } from "./layout_types";
import { Placer } from "./place";

/** A Placer that runs Graphviz's `dot`. Loading takes some 100 ms, once. */
export async function loadPlacer(): Promise<Placer> {
  const graphviz = await Graphviz.load();
  const placer = new Placer((source) => graphviz.layout(source, "json", "dot"));
  placer.place(REHEARSAL);
  return placer;
}

/** Graphviz sets up its fonts and labels with its first graph: done before anyone waits for it. */
const REHEARSAL: LayoutBox = {
  width: 0,
  height: 0,
  children: [
    { width: 60, height: 24 },
    { width: 60, height: 24 },
  ],
  links: [[0, 1, 40]],
};

if (typeof document === "undefined") {
  const placer = loadPlacer();
  self.onmessage = async (event: MessageEvent<LayoutRequest>): Promise<void> => {
    const { id, box } = event.data;
    let reply: LayoutReply;
    try {
      const ready = await placer;
      reply = { id, placed: ready.place(box), layouts: ready.layouts };
    } catch (error) {
      reply = { id, error: reasonOf(error) };
    }
    self.postMessage(reply);
  };
}
