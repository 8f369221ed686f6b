/** Writes a Record as `export_engine/record/wire.py` does, for tests that go the whole way. */

import type { Column, Record } from "../record.gen";

const ALIGN = 4;

export function encode(record: Record): DataView {
  const columns: Column[] = [];
  let start = 0;
  const header = JSON.stringify(record, (_key, value) => {
    if (!ArrayBuffer.isView(value)) return value;
    const column = value as Column;
    const packed = {
      type: `i${column.BYTES_PER_ELEMENT}`,
      start,
      count: column.length,
    };
    columns.push(column);
    start += Math.ceil(column.byteLength / ALIGN) * ALIGN;
    return packed;
  });
  const text = new TextEncoder().encode(header);
  const body = ALIGN + Math.ceil(text.length / ALIGN) * ALIGN;
  const bytes = new Uint8Array(body + start).fill(0x20, ALIGN, body);
  new DataView(bytes.buffer).setUint32(0, body - ALIGN, true);
  bytes.set(text, ALIGN);
  let at = body;
  for (const column of columns) {
    bytes.set(new Uint8Array(column.buffer, column.byteOffset, column.byteLength), at);
    at += Math.ceil(column.byteLength / ALIGN) * ALIGN;
  }
  return new DataView(bytes.buffer);
}
