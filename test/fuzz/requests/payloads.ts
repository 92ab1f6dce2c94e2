import { type DescMessage, type JsonObject, type Message, toBinary, toJson } from "@bufbuild/protobuf";
import type fc from "fast-check";
import { compileReader } from "../../../src/http/v2/message-reader.ts";
import { wireOptions } from "../../../src/http/v2/wire.ts";
import { protoJson } from "../../wires/bad-values.ts";
import { hostileJson } from "./hostile-json.ts";
import { hostileProto } from "./hostile-proto.ts";
import type { Messages } from "./messages.ts";

/** How a message is spelled: v2's JSON, the input of a tool, proto3's JSON, or protobuf. */
export type Spelling = "v2" | "tool" | "json" | "proto";

/** The bytes of a message before it is put into an envelope. */
export interface Payloads {
  readonly valid: fc.Arbitrary<Uint8Array>;
  readonly nearlyValid: fc.Arbitrary<Uint8Array>;
  readonly hostile: fc.Arbitrary<Uint8Array>;
}

/** The requests of a type in a spelling. */
export function payloadsOf(
  desc: DescMessage,
  { valid, nearlyValid }: Messages,
  spelling: Spelling,
): Payloads {
  const spell = spellers[spelling];
  const sound = valid.map((json) => spell(desc, json));
  const names = desc.fields.map(({ name }) => name);
  return {
    valid: sound,
    nearlyValid: nearlyValid.map((json) => spell(desc, json)),
    hostile:
      spelling === "proto"
        ? hostileProto(desc, sound)
        : hostileJson(
            valid.map((json) => spellJson[spelling](desc, json)),
            names,
          ),
  };
}

const spellJson: Readonly<
  Record<Exclude<Spelling, "proto">, (desc: DescMessage, json: JsonObject) => JsonObject>
> = {
  v2: (_desc, json) => json,
  tool: (_desc, json) => toolInput(json),
  json: proto3,
};

const spellers: Readonly<Record<Spelling, (desc: DescMessage, json: JsonObject) => Uint8Array>> = {
  v2: (_desc, json) => Buffer.from(JSON.stringify(json)),
  tool: (_desc, json) => Buffer.from(JSON.stringify(toolInput(json))),
  json: (desc, json) => Buffer.from(JSON.stringify(proto3(desc, json))),
  proto: (desc, json) => toBinary(desc, readable(desc, json)),
};

/** Tools that send a message take its text, and wait unless the call says how long. */
function toolInput(json: JsonObject): JsonObject {
  const { message } = json;
  const isMessage =
    typeof message === "object" &&
    message !== null &&
    !Array.isArray(message) &&
    typeof message["content"] === "string";
  return isMessage ? { ...json, message: message["content"] ?? "", wait_seconds: 0 } : json;
}

/** In proto3's spelling; members that v2 itself would not read are left unchanged. */
function proto3(desc: DescMessage, json: JsonObject): JsonObject {
  try {
    // A message's JSON is an object.
    return toJson(desc, compileReader(desc)(json, "body")) as JsonObject;
  } catch {
    return protoJson(desc, parted(desc, json));
  }
}

/** Plain text, which only v2 accepts for a list of parts, as such a list. */
function parted(desc: DescMessage, json: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(json).map(([name, value]) => {
      const field = desc.fields.find((other) => other.name === name);
      if (field && typeof value === "string" && wireOptions(field).textOrParts)
        return [name, [{ type: "text", text: value }]];
      const isMessage =
        field?.fieldKind === "message" &&
        typeof value === "object" &&
        value !== null &&
        !Array.isArray(value);
      return [name, isMessage ? parted(field.message, value) : value];
    }),
  );
}

/** The part that protobuf can express: members of a wrong type, and two of a oneof, are left out. */
function readable(desc: DescMessage, json: JsonObject): Message {
  const read = compileReader(desc);
  let members: JsonObject = {};
  let message = read(members, "body");
  for (const [name, value] of Object.entries(json)) {
    try {
      message = read({ ...members, [name]: value }, "body");
      members = { ...members, [name]: value };
    } catch {
      // It stays out.
    }
  }
  return message;
}
