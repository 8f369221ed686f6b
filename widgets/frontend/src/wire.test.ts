import { expect, test } from "vitest";
import { SCHEMA_VERSION } from "./record.gen";
import { encode } from "./testing/encode";
import { layeredProgram } from "./testing/models";
import { decode } from "./wire";

const { record } = layeredProgram(2);

test("what is read is what was written", () => {
  expect(decode(encode(record))).toEqual(record);
});

test("a message may begin anywhere in its buffer", () => {
  const whole = encode(record);
  const shifted = new Uint8Array(whole.byteLength + 3);
  shifted.set(new Uint8Array(whole.buffer), 3);
  expect(decode(new DataView(shifted.buffer, 3))).toEqual(record);
});

test.each([0, 3, 40, -2])("a message cut off at %i is a sentence that says what to do", (end) => {
  const whole = encode(record);
  const length = end < 0 ? whole.byteLength + end : end;
  expect(() => decode(new DataView(whole.buffer, 0, length))).toThrow(/Run the cell again/);
});

test("a record that was kept before ops were grouped has no groups", () => {
  const graphs = record.graphs.map(({ group: _, groups: __, ...graph }) => graph);
  const old = { ...record, graphs } as unknown as typeof record;
  expect(decode(encode(old)).graphs[0]).toMatchObject({ groups: [], group: new Int32Array(0) });
});

test("another version of the schema is named", () => {
  const newer = { ...record, schema: SCHEMA_VERSION + 1 };
  expect(() => decode(encode(newer))).toThrow(`version ${SCHEMA_VERSION + 1}`);
});

test("a name that turns the direction of the text, or has what is not seen, is seen to", () => {
  const title = "\u202eevil\u202c\u200f x\u200b y\u200d";
  expect(decode(encode({ ...record, title })).title).toBe("\ufffdevil\ufffd\ufffd x\ufffd y\ufffd");
});
