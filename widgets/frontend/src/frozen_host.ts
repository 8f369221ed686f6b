/** The Host of a page without a kernel: all answers are in the page. */

import type { Asks, AttemptHead, Host, Layout, SetState } from "./host";
import type { ByName, Frozen, OfFile, OfGraph, OfPair } from "./messages.gen";
import { inflate } from "./wire";

export type { Frozen };

type Place = OfFile & OfGraph & OfPair & ByName;

export class FrozenHost implements Host {
  readonly layout: Layout = "all";
  readonly live = false;
  readonly lost = "";

  constructor(private readonly frozen: Frozen) {}

  get attempts(): readonly AttemptHead[] {
    return this.frozen.attempts;
  }

  get programs(): SetState | null {
    return this.frozen.programs ?? null;
  }

  get current(): number {
    return this.frozen.current;
  }

  get compared(): number {
    return this.frozen.compared;
  }

  async ask<K extends keyof Asks>(kind: K, request: Asks[K]["request"]): Promise<Asks[K]["reply"]> {
    return this.answer(kind, request as Partial<Place>) as Asks[K]["reply"];
  }

  onChange(): () => void {
    return () => {};
  }

  onProgress(): () => void {
    return () => {};
  }

  private answer(
    kind: keyof Asks,
    { attempt = -1, file = -1, graph = -1, other = -1, name = "" }: Partial<Place>,
  ): unknown {
    switch (kind) {
      case "record":
        return bytes(this.frozen.records[attempt] ?? missing("attempt"));
      case "source":
        return { lines: this.frozen.sources[attempt]?.[file] ?? missing("text of this file") };
      case "code":
        return this.frozen.codes[attempt]?.[graph] ?? missing("graph");
      case "cost":
        return this.frozen.costs?.[attempt] ?? missing("cost of this program");
      case "diff":
        return this.frozen.diffs[attempt]?.[other] ?? missing("comparison");
      case "texts":
        return this.frozen.texts[attempt]?.[other] ?? missing("comparison");
      case "explain":
        if (!Object.hasOwn(this.frozen.pages, name)) missing("page on this code"); // `constructor`
        return this.frozen.pages[name];
      default:
        throw new Error(
          "This page is a report, which runs nothing. Export in a notebook to do this.",
        );
    }
  }
}

/** Reads what a page holds: JSON, packed with gzip, in base64. */
export async function unpack(packed: string): Promise<Frozen> {
  return (await inflate(bytes(packed)).json()) as Frozen;
}

function bytes(text: string): DataView<ArrayBuffer> {
  const binary = atob(text);
  const found = new Uint8Array(binary.length);
  for (let at = 0; at < binary.length; at++) found[at] = binary.charCodeAt(at);
  return new DataView(found.buffer);
}

function missing(what: string): never {
  throw new Error(`The ${what} is not in this page.`);
}
