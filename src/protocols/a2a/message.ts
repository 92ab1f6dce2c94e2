import { createHash } from "node:crypto";
import { toJson } from "@bufbuild/protobuf";
import { type Value, ValueSchema } from "@bufbuild/protobuf/wkt";
import type { ContentPartInput } from "../../../packages/client/src/index.ts";
import { invalidArgument } from "../../core/failure.ts";
import { heldBytes, holdBase64 } from "../../core/files/part.ts";
import { isLonger, isObject, type JsonObject } from "../../core/json.ts";
import { textTooLong } from "../../core/tasks/message.ts";
import { type Message, type Part, Role } from "../../gen/proto/lf/a2a/v1/a2a_pb.ts";

/**
 * The `content` of a message of v2 with the parts of a message of the protocol. @throws Failure
 * `invalid_argument`
 */
export function contentOf({ parts, role }: Message): readonly ContentPartInput[] {
  if (role !== Role.USER) throw invalidArgument("message.role", "must be ROLE_USER");
  if (parts.length === 0) throw invalidArgument("message.parts", "must have at least one part");
  return parts.map(partOf);
}

/** The base64 of parts whose `raw` was left in the request's body. */
const raws = new WeakMap<Part, Uint8Array>();

/** Leaves the base64 of a part where it is: its file is written from it. */
export const keepRaw = (part: Part, base64: Uint8Array): void => void raws.set(part, base64);

/** Longer data is refused before text is made of it; an input of an approval has at most 32 kB. */
const dataLengthMax = 65_536;

/** @throws Failure `invalid_argument` for data that is too long for a text, and for an approval. */
export function checkData(data: unknown): void {
  if (isLonger(data, dataLengthMax)) throw textTooLong();
}

function dataText(value: Value): string {
  const json = toJson(ValueSchema, value);
  checkData(json);
  return JSON.stringify(json);
}

function partOf(part: Part, index: number): ContentPartInput {
  const { content, filename, mediaType } = part;
  const names = {
    type: "file",
    ...(filename && { filename }),
    ...(mediaType && { mime_type: mediaType }),
  } as const;
  if (content.case === "text") return { type: "text", text: content.value };
  if (content.case === "url") return { ...names, file_url: content.value };
  if (content.case === "data") return { type: "text", text: dataText(content.value) };
  if (content.case !== "raw")
    throw invalidArgument(`message.parts[${index}]`, "must have text, raw, url or data");
  const head = `data:${mediaType || "application/octet-stream"};base64`;
  const kept = raws.get(part);
  if (kept) {
    const held = { [heldBytes]: holdBase64(kept) };
    return { ...names, file_data: `${head},sha256-${digestOf(kept)}`, ...held };
  }
  return { ...names, file_data: `${head},${Buffer.from(content.value).toString("base64")}` };
}

/** Replaces the bytes in the digest of the request. */
const digestOf = (bytes: Uint8Array): string => createHash("sha256").update(bytes).digest("hex");

interface Decision {
  readonly event_id: string;
  readonly input: JsonObject;
}

/**
 * The decision in a message: a data part with `event_id` and `input`, as task.confirmAction takes them;
 * undefined without one.
 */
export function decisionIn({ parts }: Message): Decision | undefined {
  for (const { content } of parts) {
    if (content.case !== "data") continue;
    const data: unknown = toJson(ValueSchema, content.value);
    const { event_id, input } = isObject(data) ? data : {};
    if (typeof event_id === "string" && isObject(input)) return { event_id, input };
  }
  return undefined;
}
