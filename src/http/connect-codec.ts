import {
  type DescMethod,
  fromBinary,
  fromJson,
  fromJsonString,
  type Message,
  toBinary,
  toJsonString,
} from "@bufbuild/protobuf";
import { Failure } from "../core/failure.ts";
import { parseJson } from "../core/json.ts";
import { checkBody } from "./bounds/check.ts";
import { binaryOptions, connectJsonOptions } from "./connect-json.ts";
import { noteIgnoredMembers } from "./connect-warnings.ts";
import { freeBody } from "./pieces.ts";
import type { Warnings } from "./warnings/warnings.ts";
import { prepareJson } from "./wire/proto-json.ts";
import { applyHeaders, type Call } from "./wire/wire.ts";

/**
 * Reads and writes the messages of a method in the same way as connect-es (test/wires/connect-unary.test.ts).
 */
export interface ConnectCodec {
  /**
   * @throws Failure `invalid_argument` or `too_large`; `invalid_argument` for members without effect under
   * strict handling
   */
  decode(call: Call, body: Uint8Array): Message;
  encode(answer: Message): Uint8Array;
}

/** The codec of a method's messages, in binary or in Connect's JSON. */
export function connectCodec(method: DescMethod, binary: boolean): ConnectCodec {
  const { input } = method;
  const { read, write } = binary ? binaryCodec(method) : jsonCodec(method);
  return {
    decode(call, body) {
      checkBody(body, binary ? input : null);
      const message = read(body, call.warnings);
      applyHeaders(call);
      return message;
    },
    encode: write,
  };
}

function binaryCodec({ input, output }: DescMethod) {
  return {
    read: (bytes: Uint8Array): Message =>
      parseMessage(() => fromBinary(input, bytes, binaryOptions), "parse binary: "),
    write: (answer: Message): Uint8Array => toBinary(output, answer),
  };
}

function jsonCodec(method: DescMethod) {
  const { textDecoder, textEncoder = new TextEncoder(), ...options } = connectJsonOptions(method);
  return {
    /** Parses the text once for both. Frees the bytes of a large body. */
    read(bytes: Uint8Array, warnings: Warnings): Message {
      const { input } = method;
      return parseMessage(() => {
        const text = textDecoder.decode(bytes);
        freeBody(bytes);
        const json = parseJson(text);
        // The library's error names the type.
        if (json === undefined) return fromJsonString(input, text, options);
        prepareJson(input, json);
        const message = fromJson(input, json, options);
        noteIgnoredMembers(input, json, warnings);
        return message;
      });
    },
    write: (answer: Message): Uint8Array => textEncoder.encode(toJsonString(method.output, answer, options)),
  };
}

/**
 * Parses a message. @throws Failure `invalid_argument` with the library's text: a malformed message is the
 * sender's fault.
 */
function parseMessage(read: () => Message, prefix = ""): Message {
  try {
    return read();
  } catch (thrown) {
    if (thrown instanceof Failure) throw thrown;
    throw new Failure(
      "invalid_argument",
      `${prefix}${thrown instanceof Error ? thrown.message : String(thrown)}`,
    );
  }
}
