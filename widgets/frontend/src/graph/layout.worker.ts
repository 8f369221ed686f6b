/**
 * The layout worker: Graphviz compiled to WebAssembly, off the main thread. Where a page forbids
 * workers, it imports this script and calls what it finds under `PLACER` itself.
 */

import { Graphviz } from "@hpcc-js/wasm-graphviz";
import { reasonOf } from "../format";
import { Placer } from "./graphviz_layout";
import { Lanes } from "./lanes";
import { type LayoutBox, type LayoutReply, type LayoutRequest, PLACER } from "./layout_types";
import { turn } from "./steps";

/**
 * A Placer that runs Graphviz's `dot`, where there is WebAssembly. Loading takes some 100 ms, once.
 */
async function loadPlacer(): Promise<Placer> {
  const graphviz = await Graphviz.load().catch(() => null);
  if (!graphviz) return new Placer(null);
  const placer = new Placer((source) => graphviz.layout(source, "json", "dot"));
  placer.place(REHEARSAL);
  return placer;
}

/** Graphviz sets up fonts and labels with its first graph, so one is laid out ahead of time. */
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
  const lanes = loadPlacer().then((placer) => new Lanes(placer, turn));
  self.onmessage = async (event: MessageEvent<LayoutRequest>): Promise<void> => {
    const { id, lane, box } = event.data;
    const ready = await lanes;
    if (!box) {
      ready.drop(lane);
      return;
    }
    let reply: LayoutReply;
    try {
      reply = { id, placed: await ready.place(lane, box) };
    } catch (error) {
      reply = { id, error: reasonOf(error) };
    }
    self.postMessage(reply);
  };
} else (globalThis as Record<symbol, unknown>)[PLACER] = loadPlacer;
