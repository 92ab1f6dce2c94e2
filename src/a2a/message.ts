import { toJson } from "@bufbuild/protobuf";
import { ValueSchema } from "@bufbuild/protobuf/wkt";
import { invalidArgument } from "../core/failure.ts";
import type { Json } from "../doors/operations.ts";
import { type Message, type Part, Role } from "../gen/proto/lf/a2a/v1/a2a_pb.ts";

/** The `content` of a message of v2 with the parts of a message of the protocol. @throws Failure `invalid_argument` */
export function contentOf({ parts, role }: Message): readonly Json[] {
  if (role !== Role.USER) throw invalidArgument("message.role", "must be ROLE_USER");
  if (parts.length === 0) throw invalidArgument("message.parts", "must have at least one part");
  return parts.map(partOf);
}

function partOf({ content, filename, mediaType }: Part, index: number): Json {
  const names = { ...(filename && { filename }), ...(mediaType && { mime_type: mediaType }) };
  if (content.case === "text") return { type: "text", text: content.value };
  if (content.case === "url") return { type: "file", file_url: content.value, ...names };
  if (content.case === "data") return { type: "text", text: JSON.stringify(toJson(ValueSchema, content.value)) };
  if (content.case !== "raw") throw invalidArgument(`message.parts[${index}]`, "must have text, raw, url or data");
  const bytes = Buffer.from(content.value).toString("base64");
  return { type: "file", file_data: `data:${mediaType || "application/octet-stream"};base64,${bytes}`, ...names };
}

/** A decision about an approval. */
interface Decision {
  readonly event_id: string;
  readonly input: Json;
}

/** The decision in a message: a data part with `event_id` and `input`, as task.confirmAction takes them; undefined without one. */
export function decisionIn({ parts }: Message): Decision | undefined {
  for (const { content } of parts) {
    if (content.case !== "data") continue;
    const { event_id: id, input } = (toJson(ValueSchema, content.value) ?? {}) as Json;
    if (typeof id === "string" && typeof input === "object" && input !== null) return { event_id: id, input: input as Json };
  }
  return undefined;
}
