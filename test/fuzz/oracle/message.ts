import { brotliDecompressSync, gunzipSync } from "node:zlib";
import { type DescMessage, fromBinary, fromJsonString } from "@bufbuild/protobuf";

/** Bytes as they were before a coding; throws when they are not of it. */
export function decoded(bytes: Uint8Array, coding: string | undefined): Uint8Array {
  if (coding === "gzip") return gunzipSync(bytes);
  if (coding === "br") return brotliDecompressSync(bytes);
  if (coding === undefined || coding === "identity") return bytes;
  throw new Error(`nobody knows the coding ${coding}`);
}

/** Reflection gives a question back, with whatever was in it, one level down. */
const recursionLimit = 200;

/** What is wrong with a message of an answer; an empty list when it is one of its type. */
export function flawsOfMessage(desc: DescMessage, bytes: Uint8Array, isJson: boolean): readonly string[] {
  try {
    if (isJson) fromJsonString(desc, Buffer.from(bytes).toString());
    else fromBinary(desc, bytes, { recursionLimit });
    return [];
  } catch {
    return [`the answer is no ${desc.typeName}`];
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
