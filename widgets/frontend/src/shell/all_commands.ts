/** All available actions of a view, as commands: by a click, by keys, or by name. */

import { stepDifference } from "../compare/stepping";
import { LINE } from "../decorations/lines";
import { colourings } from "../decorations/registry";
import { capped, counted } from "../format";
import { copyText } from "../panes/parts/CopyButton";
import { loadTime } from "../panes/parts/Expected";
import type { Program } from "../program";
import { FIELDS } from "../query/fields.gen";
import type { Store } from "../store";
import { lineOf } from "../user_frames";
import { lineOfPython } from "../view_in_python";
import type { Tab } from "../view_state";

export interface Command {
  group: string;
  name: string;
  /** The keys that do the same without the list. */
  keys?: string;
  /** Its effect or duration, if the name is not enough. */
  means?: string;
  /** @param view the element of the whole view */
  run: (view: HTMLElement) => void;
}

/** Actions of the page around the panes. */
export interface Surroundings {
  full: boolean;
  toggleFull: () => void;
  /** Whether the outline stays unfolded, and Source is below the other details. */
  outlined: boolean;
  below: boolean;
  keepOutline: (on: boolean) => void;
  putBelow: (on: boolean) => void;
}

/** The panes by their tabs, and what is in each: those wanted most often first. */
export const PANES: readonly [Tab, string, string][] = [
  ["inspector", "Inspector", "details of the selection"],
  ["source", "Source", "your lines, with the ops they made"],
  ["shapes", "Shapes", "try sizes; guards and their lines"],
  ["findings", "Findings", "what may differ from the model"],
  ["guarantees", "Verify", "the guarantees of torch.export, checked"],
  ["runs", "Runs", "run on backends; profile ops"],
  ["cost", "Cost", "FLOPs, bytes and memory at any sizes"],
  ["values", "Values", "what each op computes"],
  ["stages", "Stages", "kernels after export, with their lines and times"],
  ["delegate", "Delegate", "which ops a backend takes, why it leaves others, and fixes"],
  ["signature", "Signature", "inputs, outputs, parameters"],
  ["code", "Code", "the graph as torch prints it"],
];

/** Example queries of the language. */
const QUERIES: readonly (readonly [string, string])[] = [
  ["op:linear & dtype:f32", "both"],
  ["op:relu | op:gelu", "either"],
  ["!module:encoder", "not"],
  ["(op:add | op:mul) & rank > 2", "brackets"],
  ["layer.3 linear", "words: names, ops, modules, types, lines"],
];

/** All commands, those for the selection first. */
export function commandsOf(store: Store, program: Program, around: Surroundings): Command[] {
  return [
    ...ofSelection(store, program),
    ...ofGraph(store, around),
    ...ofActions(store, program),
    ...ofComparing(store),
    ...ofColours(store),
    ...PANES.map(([tab, name, means]) => ({
      group: "Panes",
      name,
      means,
      run: () => store.open(tab),
    })),
    ...ofView(store, program, around),
    ...ofQueries(store),
  ];
}

function ofSelection(store: Store, program: Program): Command[] {
  const selection = store.selection.value;
  const { nodes } = store.lit.value;
  if (selection.kind === "none" || nodes.size === 0) return [];
  const group = "With the selection";
  const line = lineOf(program, selection, nodes);
  const [first] = nodes;
  const op = first === undefined ? undefined : program.target(first);
  const graph = store.graph.value;
  const all: (Command | false)[] = [
    { group, name: "Inspect it", run: () => store.open("inspector") },
    line && { group, name: "Show its source line", run: () => store.goTo(line.file, line.line) },
    graph !== null && {
      group,
      name: "Go to it in the graph",
      keys: "z",
      run: () => graph.zoomToSelection(),
    },
    graph !== null && {
      group,
      name: "Highlight the path through it",
      keys: "p",
      run: () => graph.highlights.togglePath(),
    },
    op !== undefined && {
      group,
      name: `Find every ${op.label}`,
      run: () => {
        store.query.value = `op:${op.label}`;
      },
    },
    { group, name: "Show it in Code", run: () => store.open("code") },
    { group, name: "Look at its values", run: () => store.open("values") },
    { group, name: "Clear the selection", keys: "Esc", run: () => store.clear() },
  ].map((each) => each || false);
  return all.filter((each) => each !== false);
}

function ofGraph(store: Store, around: Surroundings): Command[] {
  const graph = store.graph.value;
  if (!graph) return [];
  const group = "Graph";
  const { folding, stage } = graph;
  return [
    { group, name: "Search ops and modules", keys: "/", run: focusSearch },
    {
      group,
      name: around.outlined ? "Fold the outline" : "Keep the outline unfolded",
      means: "modules and ops as a tree",
      run: () => around.keepOutline(!around.outlined),
    },
    { group, name: "Fit the whole graph", keys: "f", run: () => folding.fit() },
    { group, name: "Expand every module", keys: "e", run: () => void folding.expandAll() },
    { group, name: "Collapse every module", keys: "c", run: () => void folding.collapseAll() },
    { group, name: "Zoom in", keys: "+", run: () => stage.zoomBy(1.25) },
    { group, name: "Zoom out", keys: "−", run: () => stage.zoomBy(0.8) },
    {
      group,
      name: `${store.housekeeping.value ? "Hide" : "Show"} ops that compute or check sizes`,
      run: () => {
        store.housekeeping.value = !store.housekeeping.peek();
      },
    },
    {
      group,
      name: `${graph.parameters.value ? "Fold" : "Show"} weights as boxes`,
      run: () => {
        graph.parameters.value = !graph.parameters.peek();
      },
    },
  ];
}

const focusSearch = (view: HTMLElement): void => {
  view.querySelector<HTMLInputElement>("[data-search]")?.focus();
};

function ofActions(store: Store, program: Program): Command[] {
  if (!store.host.live || store.busy.value || program.record.failure) return [];
  const group = "Check and run";
  const untrusted = store.attempts.value[store.current.value]?.untrusted;
  const trust = {
    group,
    name: "Trust and load this file",
    means: `loading runs its code: ${loadTime(program)}`,
    run: () => void store.trust(),
  };
  return [
    ...(untrusted ? [trust] : []),
    {
      group,
      name: "Verify…",
      means: "compare with eager at many sizes",
      run: () => store.open("guarantees"),
    },
    { group, name: "Run…", means: "on the backends you choose", run: () => store.open("runs") },
    { group, name: "Profile…", means: "rank ops by time", run: () => store.open("runs") },
    {
      group,
      name: "Compile…",
      means: "stages after export, and the time of each kernel",
      run: () => store.open("stages"),
    },
    {
      group,
      name: "Delegate…",
      means: "lower for XNNPACK or another backend, and see why ops stay outside",
      run: () => store.open("delegate"),
    },
    { group, name: "Try sizes…", means: "without running", run: () => store.open("shapes") },
    {
      group,
      name: "Decompose…",
      means: "to core ATen, or by a table",
      run: () => {
        store.decomposing.value = true;
        store.clear();
        store.open("inspector");
      },
    },
    {
      group,
      name: "Watch a run",
      means: "one run, op by op: seconds",
      run: () => void store.watch(),
    },
  ];
}

function ofComparing(store: Store): Command[] {
  const group = "Compare";
  if (store.comparison.value) {
    return [
      { group, name: "Next difference", keys: "n", run: () => stepDifference(store, 1) },
      { group, name: "Previous difference", keys: "N", run: () => stepDifference(store, -1) },
      { group, name: "Stop comparing", run: () => store.stopComparing() },
    ];
  }
  const current = store.current.value;
  const attempts = store.attempts.value;
  if (attempts[current]?.outcome !== "exported") return [];
  const others = attempts.flatMap((each, index): Command[] => {
    if (index === current || each.outcome !== "exported") return [];
    const name = capped(store.nameOf(index), 80);
    return [{ group, name: `Compare with ${name}`, run: () => void store.compare(index) }];
  });
  const another = {
    group,
    name: "Compare with another program…",
    means: "an attempt, a variable, or a file",
    run: (view: HTMLElement) => {
      view.querySelector<HTMLElement>(".tx-header [title^='Compare with']")?.click();
    },
  };
  const python = `%export_diff ${store.named.value} other`;
  return [
    ...others,
    ...(store.host.live ? [another] : []),
    {
      group,
      name: "Copy the line that compares two programs",
      means: `${python}; in Python explorer.diff(${store.named.value}, other)`,
      run: (view) => copy(store, python, view),
    },
  ];
}

function ofColours(store: Store): Command[] {
  const group = "Colour by";
  const choices = colourings(store.decorations.value).filter(({ name }) => name !== LINE);
  return [
    { group, name: "Kind of op", run: () => store.colourBy("none") },
    { group, name: "Source line", run: () => store.colourBy(LINE) },
    ...choices.map(({ name, title }) => ({
      group,
      name: capped(title, 60),
      run: () => store.colourBy(name),
    })),
  ];
}

function ofView(store: Store, program: Program, around: Surroundings): Command[] {
  const group = "View";
  const line = (): string =>
    lineOfPython(
      program,
      store.selection.peek(),
      store.openScopes.peek(),
      store.teaching.peek() ? "teaching" : store.tab.peek(),
      store.named.peek(),
    );
  return [
    {
      group,
      name: around.below ? "Source as a tab" : "Source below the other details",
      run: () => around.putBelow(!around.below),
    },
    {
      group,
      name: around.full ? "Exit full screen" : "Full screen",
      run: around.toggleFull,
    },
    {
      group,
      name: store.teaching.value ? "Exit the teaching layout" : "Teaching layout",
      means: "graph and source in large type",
      run: () => {
        store.teaching.value = !store.teaching.peek();
      },
    },
    { group, name: "Back to the selection before", keys: "[", run: () => store.back() },
    { group, name: "Forward again", keys: "]", run: () => store.forward() },
    {
      group,
      name: "Copy the line of Python that shows this",
      run: (view) => copy(store, line(), view),
    },
    { group, name: "Next pane", keys: "F6", run: (view) => pressKey(view, "F6") },
    { group, name: "Back to the notebook", keys: "Esc Esc", run: (view) => leave(store, view) },
  ];
}

/** The action of a key of the view. */
function pressKey(view: HTMLElement, key: string): void {
  view.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
}

function leave(store: Store, view: HTMLElement): void {
  store.clear();
  pressKey(view, "Escape");
}

async function copy(store: Store, text: string, view: HTMLElement): Promise<void> {
  const worked = await copyText(text, view);
  store.say(worked ? `Copied: ${text}` : `This page may not copy. The line is ${text}`, !worked);
}

function ofQueries(store: Store): Command[] {
  const fields = FIELDS.map(({ example, means }) => [example, means] as const);
  return [...QUERIES, ...fields].map(([query, means]) => ({
    group: "Search by a query",
    name: query,
    means,
    run: () => {
      store.query.value = query;
    },
  }));
}

/** The commands that have every word of a text in them, best first: by name before by meaning. */
export function matching(commands: readonly Command[], text: string): Command[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  const rank = ({ group, means, name }: Command): number => {
    const start = name.toLowerCase();
    const whole = `${group} ${start} ${means ?? ""}`.toLowerCase();
    if (!words.every((word) => whole.includes(word))) return -1;
    return words.every((word) => start.includes(word)) ? 0 : 1;
  };
  const ranked = commands.map((command) => ({ command, at: rank(command) }));
  const found = ranked.filter(({ at }) => at >= 0).sort((a, b) => a.at - b.at);
  return found.map(({ command }) => command);
}

/** The count shown with a list. */
export const countText = (commands: readonly Command[]): string =>
  counted(commands.length, "command");
