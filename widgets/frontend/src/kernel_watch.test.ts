import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { AnywidgetHost } from "./anywidget_host";
import { FakeModel } from "./testing/fake_model";

type Slot = (sender: unknown, value: never) => void;

class FakeSignal {
  readonly slots = new Set<Slot>();
  connect(slot: Slot): void {
    this.slots.add(slot);
  }
  disconnect(slot: Slot): void {
    this.slots.delete(slot);
  }
  emit(value: unknown): void {
    for (const slot of this.slots) slot(null, value as never);
  }
}

class FakeKernel {
  status = "idle";
  isDisposed = false;
  connectionStatus = "connected";
  readonly statusChanged = new FakeSignal();
  readonly connectionStatusChanged = new FakeSignal();
  readonly disposed = new FakeSignal();
  readonly signals = [this.statusChanged, this.connectionStatusChanged, this.disposed];
}

function hostOf(kernel: FakeKernel): { host: AnywidgetHost; model: FakeModel; told: () => number } {
  const model = Object.assign(new FakeModel({}), { widget_manager: { kernel } });
  const host = new AnywidgetHost(model as never);
  let changes = 0;
  host.onChange(() => {
    changes += 1;
  });
  return { host, model, told: () => changes };
}

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test.each([
  ["restarting", "The kernel was restarted"],
  ["autorestarting", "The kernel died and was restarted"],
  ["dead", "The kernel died"],
  ["terminating", "The kernel was shut down"],
])("a kernel that is %s is gone for its views at once", (status, sentence) => {
  const kernel = new FakeKernel();
  const { host, told } = hostOf(kernel);
  kernel.statusChanged.emit("busy");
  expect(host.lost).toBe("");
  kernel.statusChanged.emit(status);
  kernel.statusChanged.emit("idle"); // the next kernel, which knows nothing of this view
  kernel.connectionStatusChanged.emit("connected");
  expect([host.lost, told()]).toEqual([sentence, 1]);
});

test("what is still asked for fails when its kernel goes, and nothing more is sent", async () => {
  const kernel = new FakeKernel();
  const { host, model } = hostOf(kernel);
  const verified = host.ask("verify", { attempt: 0, sizes: 2 });
  kernel.disposed.emit(undefined);
  await expect(verified).rejects.toThrow("The kernel was shut down.");
  await expect(host.ask("code", { attempt: 0, graph: 0 })).rejects.toThrow("shut down");
  expect(model.sent).toHaveLength(1);
});

test("a connection that comes back soon was not lost, and one that does not may come later", () => {
  const kernel = new FakeKernel();
  const { host } = hostOf(kernel);
  kernel.connectionStatusChanged.emit("connecting");
  vi.advanceTimersByTime(1000);
  kernel.connectionStatusChanged.emit("connected");
  vi.advanceTimersByTime(10_000);
  expect(host.lost).toBe("");
  kernel.connectionStatusChanged.emit("connecting");
  vi.advanceTimersByTime(3000);
  expect(host.lost).toBe("The connection to the kernel is lost");
  kernel.connectionStatusChanged.emit("connected");
  expect(host.lost).toBe("");
});

test("where the page cannot see the kernel, a message that cannot be sent says it", async () => {
  vi.spyOn(console, "error").mockReturnValue();
  const model = new FakeModel({}, () => {
    throw new Error("Cannot send");
  });
  const host = new AnywidgetHost(model);
  await expect(host.ask("setups", { attempt: 0 })).rejects.toThrow("The kernel was shut down.");
  expect(host.lost).toBe("The kernel was shut down");
});

test("a view that is closed hears its kernel no more", () => {
  const kernel = new FakeKernel();
  const { host } = hostOf(kernel);
  host.dispose();
  expect(kernel.signals.map(({ slots }) => slots.size)).toEqual([0, 0, 0]);
});

test("what only reads is asked again of a kernel that is idle and did not answer", async () => {
  const kernel = new FakeKernel();
  const { host, model } = hostOf(kernel);
  const lines = host.ask("source", { attempt: 0, file: 0 });
  void host.ask("verify", { attempt: 0, sizes: 1 } as never).catch(() => undefined);
  kernel.status = "busy";
  vi.advanceTimersByTime(60_000);
  expect(model.sent.map(({ ask }) => ask)).toEqual(["source", "verify"]);
  kernel.status = "idle";
  vi.advanceTimersByTime(9_000);
  expect(model.sent.map(({ ask }) => ask)).toEqual(["source", "verify", "source"]);
  const [first, , again] = model.sent;
  expect(again).toEqual(first);
  model.reply({ id: first?.id, ok: true, value: { lines: [] } });
  model.reply({ id: first?.id, ok: true, value: { lines: [] } });
  expect(await lines).toEqual({ lines: [] });
  vi.advanceTimersByTime(60_000);
  expect(model.sent).toHaveLength(3);
});
