import { brotliDecompressSync, gunzipSync } from "node:zlib";
import { type DescMessage, fromBinary, fromJsonString } from "@bufbuild/protobuf";

/** The bytes before a coding; throws when they are not in this coding. */
export function decode(bytes: Uint8Array, coding: string | undefined): Uint8Array {
  if (coding === "gzip") return gunzipSync(bytes);
  if (coding === "br") return brotliDecompressSync(bytes);
  if (coding === undefined || coding === "identity") return bytes;
  throw new Error(`unknown coding ${coding}`);
}

/** Reflection returns a question with its content, one level deeper. */
const recursionLimit = 200;

/** Faults in a message of an answer; an empty list for a valid message of its type. */
export function faultsOfMessage(desc: DescMessage, bytes: Uint8Array, isJson: boolean): readonly string[] {
  try {
    if (isJson) fromJsonString(desc, Buffer.from(bytes).toString());
    else fromBinary(desc, bytes, { recursionLimit });
    return [];
  } catch {
    return [`the answer is not ${desc.typeName}`];
  }
}

/** A JSON object, or null for anything else. */
export function objectIn(bytes: Uint8Array): Readonly<Record<string, unknown>> | null {
  try {
    const json: unknown = JSON.parse(Buffer.from(bytes).toString());
    return typeof json === "object" && json !== null && !Array.isArray(json) ? { ...json } : null;
  } catch {
    return null;
  }
}
