// Files within a ZIP archive, as workbooks are: read by its central directory.
import assert from "node:assert/strict";
import { inflateRawSync } from "node:zlib";

/**
 * The texts of the archive's files, by name.
 * @param {Buffer} bytes
 */
export function unzipped(bytes) {
  const end = bytes.lastIndexOf(Buffer.from([0x50, 0x4b, 5, 6]));
  assert.ok(end >= 0, "it is no ZIP archive");
  /** @type {Record<string, string>} */
  const files = {};
  let at = bytes.readUInt32LE(end + 16);
  for (let left = bytes.readUInt16LE(end + 10); left > 0; left -= 1) {
    const [method, packed, nameLength] = [bytes.readUInt16LE(at + 10), bytes.readUInt32LE(at + 20), bytes.readUInt16LE(at + 28)];
    const name = bytes.toString("utf8", at + 46, at + 46 + nameLength);
    const local = bytes.readUInt32LE(at + 42);
    const start = local + 30 + bytes.readUInt16LE(local + 26) + bytes.readUInt16LE(local + 28);
    const body = bytes.subarray(start, start + packed);
    files[name] = (method === 8 ? inflateRawSync(body) : body).toString("utf8");
    at += 46 + nameLength + bytes.readUInt16LE(at + 30) + bytes.readUInt16LE(at + 32);
  }
  return files;
}
