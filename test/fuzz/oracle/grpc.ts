import type { DescMessage } from "@bufbuild/protobuf";
import type { FuzzAnswer } from "../request.ts";
import { type Envelope, openEnvelopes } from "./envelopes.ts";
import { decode, faultsOfMessage } from "./message.ts";

/** UNKNOWN, INTERNAL and DATA_LOSS are internal errors. */
const faults: ReadonlySet<number> = new Set([2, 13, 15]);
const highest = 16;

/** What is wrong with a gRPC answer: its status is among the trailers. */
export function faultsOfGrpc(output: DescMessage, streaming: boolean, answer: FuzzAnswer): readonly string[] {
  const { envelopes, rest } = openEnvelopes(answer.body);
  const messages = faultsOfMessages(output, envelopes, answer);
  // Without a message the trailers may be the only head.
  const trailers =
    "grpc-status" in answer.trailers ? answer.trailers : answer.body.length === 0 ? answer.headers : {};
  if (answer.cut) return messages;
  return [...faultsOfRest(rest), ...messages, ...faultsOfStatus(trailers, envelopes.length, streaming)];
}

const trailerFlag = 0x80;

/** What is wrong with a gRPC-Web answer: its trailers are the last envelope. */
export function faultsOfGrpcWeb(
  output: DescMessage,
  streaming: boolean,
  answer: FuzzAnswer,
): readonly string[] {
  const { envelopes, rest } = openEnvelopes(answer.body);
  const messages = envelopes.filter(({ flags }) => (flags & trailerFlag) === 0);
  const found = faultsOfMessages(output, messages, answer);
  if (answer.cut) return found;
  const last = envelopes.at(-1);
  if (!last || (last.flags & trailerFlag) === 0 || messages.length !== envelopes.length - 1)
    return [...found, "the trailers are not last"];
  return [
    ...faultsOfRest(rest),
    ...found,
    ...faultsOfStatus(fieldsIn(last.bytes), messages.length, streaming),
  ];
}

const faultsOfRest = (rest: Buffer): string[] =>
  rest.length === 0 ? [] : ["the answer breaks off in an envelope"];

function faultsOfMessages(
  output: DescMessage,
  envelopes: readonly Envelope[],
  { status, headers }: FuzzAnswer,
): readonly string[] {
  const found = status === 200 ? [] : [`the HTTP status ${status}`];
  const isJson = headers["content-type"]?.endsWith("+json") ?? false;
  for (const { flags, bytes } of envelopes)
    found.push(
      ...faultsOfMessage(output, flags & 1 ? decode(bytes, headers["grpc-encoding"]) : bytes, isJson),
    );
  return found;
}

function faultsOfStatus(
  trailers: Readonly<Record<string, string>>,
  messages: number,
  streaming: boolean,
): string[] {
  const { "grpc-status": text = "", "grpc-message": message = "" } = trailers;
  if (!/^\d+$/.test(text) || Number(text) > highest)
    return [`the grpc-status is ${text === "" ? "missing" : text}`];
  if (faults.has(Number(text))) return [`the grpc-status is ${text}`];
  const found = Number(text) !== 0 && message === "" ? [`the grpc-status ${text} without a message`] : [];
  if (!isPercentEncoded(message)) found.push("the grpc-message is not percent-encoded");
  if (!streaming && messages !== (Number(text) === 0 ? 1 : 0))
    found.push(`${messages} messages with the grpc-status ${text}`);
  return found;
}

function isPercentEncoded(text: string): boolean {
  try {
    decodeURIComponent(text);
    return /^[\x20-\x7e]*$/.test(text);
  } catch {
    return false;
  }
}

const fieldsIn = (bytes: Buffer): Readonly<Record<string, string>> =>
  Object.fromEntries(
    bytes
      .toString("latin1")
      .split("\r\n")
      .filter((line) => line !== "")
      .map((line) => {
        const colon = line.indexOf(":");
        return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
      }),
  );
