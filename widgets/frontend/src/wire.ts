/** Reads the bytes that `export_engine/record/wire.py` writes: a JSON header, then typed arrays. */

import { type Column, type Record, SCHEMA_VERSION } from "./record.gen";
import { withoutUnseen } from "./unseen";

interface PackedColumn {
  type: "i1" | "i2" | "i4";
  start: number;
  count: number;
}

/** Unpacks gzip data. */
export function inflate(packed: BlobPart): Response {
  return new Response(new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip")));
}

/**
 * The Record in `data`. Its columns are views into `data`, not copies.
 *
 * @throws Error when the bytes are cut off or of another version of the schema.
 */
export function decode(data: DataView): Record {
  const bytes = aligned(data);
  if (bytes.byteLength < 4) throw new Error("The record is empty. Run the cell again.");
  const headerSize = new DataView(bytes.buffer, bytes.byteOffset).getUint32(0, true);
  const body = bytes.byteOffset + 4 + headerSize;
  const end = bytes.byteOffset + bytes.byteLength;
  if (body > end) throw new Error("The record is cut off. Run the cell again.");
  const text = new TextDecoder().decode(bytes.subarray(4, 4 + headerSize));
  const record = unpacked(JSON.parse(withoutUnseen(text)), (packed) =>
    unpack(bytes.buffer, body, end, packed),
  ) as Record;
  if (record.schema !== SCHEMA_VERSION) {
    throw new Error(
      `This view reads version ${SCHEMA_VERSION} of the record, but received version ` +
        `${record.schema}. Reload the page, then run the cell again.`,
    );
  }
  // A Record that was kept before ops were grouped has none.
  const ungrouped = { group: new Int32Array(0), groups: [] };
  return { ...record, graphs: record.graphs.map((graph) => ({ ...ungrouped, ...graph })) };
}

/** Typed arrays need their start at a multiple of 4; a comm message does not promise one. */
function aligned(data: DataView): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(data.buffer as ArrayBuffer, data.byteOffset, data.byteLength);
  return bytes.byteOffset % 4 === 0 ? bytes : bytes.slice();
}

/** Puts the columns in place of what stands for them. A reviver would be called for each value. */
function unpacked(value: unknown, columnOf: (packed: PackedColumn) => Column): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (isPacked(value)) return columnOf(value);
  if (Array.isArray(value)) {
    for (let at = 0; at < value.length; at++) {
      if (typeof value[at] === "object") value[at] = unpacked(value[at], columnOf);
    }
    return value;
  }
  const parts = value as { [key: string]: unknown };
  for (const key in parts) {
    const part = parts[key];
    const made = typeof part === "object" ? unpacked(part, columnOf) : part;
    if (made !== part) parts[key] = made;
  }
  return value;
}

function isPacked(value: unknown): value is PackedColumn {
  return (
    typeof value === "object" &&
    value !== null &&
    "start" in value &&
    "count" in value &&
    "type" in value
  );
}

function unpack(buffer: ArrayBuffer, body: number, end: number, packed: PackedColumn): Column {
  const width = { i1: 1, i2: 2, i4: 4 }[packed.type];
  const start = body + packed.start;
  if (start + packed.count * width > end) {
    throw new Error("The record is cut off. Run the cell again.");
  }
  if (packed.type === "i1") return new Int8Array(buffer, start, packed.count);
  if (packed.type === "i2") return new Int16Array(buffer, start, packed.count);
  return new Int32Array(buffer, start, packed.count);
}
