import { randomBytes } from "node:crypto";
import type { JsonObject, JsonValue, Message } from "@bufbuild/protobuf";
import type { Part, SendMessageRequest } from "../../../gen/proto/lf/a2a/v1/a2a_pb.ts";
import { checkBody } from "../../../http/bounds/check.ts";
import { parseBody } from "../../../http/v2/parse.ts";
import { checkData, keepRaw } from "../message.ts";

/** Shorter base64 is read as every other text. */
const leastBytes = 65_536;

/** Base64 in a body, and the mark that is parsed in its place. */
interface Raw {
  readonly mark: string;
  readonly from: number;
  readonly to: number;
}

/** The base64 of the parts of a parsed body, by the marks. */
const kept = new WeakMap<object, ReadonlyMap<string, Uint8Array>>();

/**
 * Parses the body of a request. Long base64 in `raw` of a message's parts stays in the bytes: no text is made
 * of it.
 *
 * @throws Failure as `parseBody`
 */
export function parseRequest(body: Uint8Array): JsonValue {
  checkBody(body, null);
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.length);
  const raws = rawsIn(bytes);
  const json = raws.length > 0 ? parseMarked(bytes, raws) : null;
  if (json === null) return parseBody(body);
  kept.set(json, new Map(raws.map(({ mark, from, to }) => [mark, bytes.subarray(from, to)])));
  return json;
}

/** Members `raw` with long plain base64: standard, padded, and without escapes. */
function rawsIn(bytes: Buffer): readonly Raw[] {
  const found: Raw[] = [];
  for (
    let at = bytes.indexOf(rawName);
    at >= 0 && bytes.length - at > leastBytes;
    at = bytes.indexOf(rawName, at)
  ) {
    at += rawName.length;
    const [begin] = /^\s*:\s*"/.exec(bytes.toString("latin1", at, at + 100)) ?? [];
    if (begin === undefined) continue;
    const from = at + begin.length;
    const to = bytes.indexOf('"', from);
    if (to < 0) break;
    at = to;
    const length = to - from;
    const isPlain =
      length >= leastBytes &&
      length % 4 === 0 &&
      others.every((byte) => !bytes.subarray(from, to).includes(byte));
    if (isPlain) found.push({ mark: randomBytes(33).toString("base64"), from, to });
  }
  return found;
}

const rawName = '"raw"';
/** Of escapes, base64url and white space, which are decoded as text. */
const others = ["\\", "-", "_", " "];

/**
 * Parses the body with marks instead of base64; null when one of them is not the `raw` of a part, or when it
 * is not JSON.
 */
function parseMarked(bytes: Buffer, raws: readonly Raw[]): JsonObject | null {
  const pieces = raws.flatMap(({ mark, from }, index) => [
    bytes.subarray(raws[index - 1]?.to ?? 0, from),
    Buffer.from(mark),
  ]);
  const text = Buffer.concat([...pieces, bytes.subarray(raws.at(-1)?.to)]).toString();
  try {
    const json: unknown = JSON.parse(text);
    const placed = new Set(partsOf(json).map(({ raw }) => raw));
    return raws.every(({ mark }) => placed.has(mark)) ? (json as JsonObject) : null; // It has parts.
  } catch {
    return null;
  }
}

type Members = Readonly<Record<string, unknown>>;

/** The parts of the message of a request: in `params` in JSON-RPC. */
function partsOf(json: unknown): readonly Members[] {
  const { params, message } = Object(json) as Members;
  const { parts } = Object(message ?? Object(params)["message"]) as Members;
  return Array.isArray(parts) ? parts.map((part) => Object(part) as Members) : [];
}

/** Refuses long data before a message is made of it. @throws Failure `invalid_argument` */
export function checkParts(body: JsonValue): void {
  for (const { data } of partsOf(body)) checkData(data);
}

/** Gives the parts of a request the base64 that was left in its body. */
export function keepRaws(body: JsonValue, request: Message): void {
  const raws = typeof body === "object" && body !== null ? kept.get(body) : undefined;
  if (!raws) return;
  const { message } = request as SendMessageRequest; // Only its JSON has parts of a message.
  for (const part of message?.parts ?? []) keepOne(part, raws);
}

function keepOne(part: Part, raws: ReadonlyMap<string, Uint8Array>): void {
  const { content } = part;
  const base64 = content.case === "raw" ? raws.get(Buffer.from(content.value).toString("base64")) : undefined;
  if (base64) keepRaw(part, base64);
}
