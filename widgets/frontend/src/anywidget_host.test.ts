import { gzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { AnywidgetHost } from "./anywidget_host";
import { bytesOf, FakeModel } from "./testing/fake_model";

const RECORD = bytesOf("record");
const HELD = new DataView(new Uint8Array(gzipSync("record")).buffer);

test("the current attempt's record needs no round trip", async () => {
  const model = new FakeModel({ current: 1, record: HELD });
  const host = new AnywidgetHost(model);
  expect(await host.ask("record", { attempt: 1 })).toEqual(RECORD);
  expect(model.sent).toEqual([]);
});

test("another attempt's record is asked for and comes as the first buffer", async () => {
  const other = bytesOf("other");
  const model = new FakeModel({ current: 0, record: HELD }, ({ id }, kernel) =>
    kernel.reply({ id, ok: true, value: null }, [other]),
  );
  const host = new AnywidgetHost(model);
  expect(await host.ask("record", { attempt: 1 })).toBe(other);
  expect(model.sent[0]).toMatchObject({ ask: "record", attempt: 1 });
});

test("a value comes as it is, and each question gets its own answer", async () => {
  const model = new FakeModel({});
  const host = new AnywidgetHost(model);
  const first = host.ask("source", { attempt: 0, file: 1 });
  const second = host.ask("source", { attempt: 0, file: 2 });
  const [one, two] = model.sent;
  model.reply({ id: two?.id, ok: true, value: { lines: [[["", "two"]]] } });
  model.reply({ id: one?.id, ok: true, value: { lines: [[["", "one"]]] } });
  expect((await first).lines[0]?.[0]?.[1]).toBe("one");
  expect((await second).lines[0]?.[0]?.[1]).toBe("two");
});

test("a refusal is an error whose text can be shown", async () => {
  const model = new FakeModel({}, ({ id }, kernel) =>
    kernel.reply({ id, ok: false, error: "That cell is gone." }),
  );
  const host = new AnywidgetHost(model);
  await expect(host.ask("source", { attempt: 0, file: 0 })).rejects.toThrow("That cell is gone.");
});

test("replies to another view of the same model are left to it", async () => {
  const model = new FakeModel({});
  const mine = new AnywidgetHost(model);
  const answer = mine.ask("code", { attempt: 0, graph: 0 });
  model.reply({ id: "somebody else's", ok: false, error: "no" });
  model.reply({ id: model.sent[0]?.id, ok: true, value: { lines: [], nodes: [] } });
  expect(await answer).toEqual({ lines: [], nodes: [] });
});

test("traits that a host sets one after the other call back once, with all of them", async () => {
  const model = new FakeModel({ attempts: [], current: 0, record: bytesOf("before") });
  const host = new AnywidgetHost(model);
  const seen: Promise<DataView>[] = [];
  const stop = host.onChange(() => seen.push(host.ask("record", { attempt: host.current })));
  model.set("attempts", [{}, {}]);
  model.set("current", 1);
  model.set("record", HELD);
  await Promise.resolve();
  expect(await Promise.all(seen)).toEqual([RECORD]);
  model.set("current", 2);
  stop();
  await Promise.resolve();
  expect(seen).toHaveLength(1);
});

test("dispose leaves no callback behind and fails what is still open", async () => {
  const model = new FakeModel({});
  const host = new AnywidgetHost(model);
  const open = host.ask("source", { attempt: 0, file: 0 });
  host.dispose();
  await expect(open).rejects.toThrow("closed");
  expect(model.listeners).toBe(0);
});
