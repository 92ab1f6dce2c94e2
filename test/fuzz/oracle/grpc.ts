import type { DescMessage } from "@bufbuild/protobuf";
import type { FuzzAnswer } from "../request.ts";
import { type Envelope, opened } from "./envelopes.ts";
import { decoded, flawsOfMessage } from "./message.ts";

/** UNKNOWN, INTERNAL and DATA_LOSS are a server's own faults. */
const faults: ReadonlySet<number> = new Set([2, 13, 15]);
const highest = 16;

/** What is wrong with a gRPC answer: its status is among the trailers. */
export function flawsOfGrpc(output: DescMessage, streaming: boolean, answer: FuzzAnswer): readonly string[] {
  const { envelopes, rest } = opened(answer.body);
  const messages = flawsOfMessages(output, envelopes, answer);
  // Without a message the trailers may be the only head.
  const trailers = "grpc-status" in answer.trailers ? answer.trailers : answer.body.length === 0 ? answer.headers : {};
  if (answer.cut) return messages;
  return [...flawsOfRest(rest), ...messages, ...flawsOfStatus(trailers, envelopes.length, streaming)];
}

const trailerFlag = 0x80;

/** What is wrong with a gRPC-Web answer: its trailers are the last envelope. */
export function flawsOfGrpcWeb(output: DescMessage, streaming: boolean, answer: FuzzAnswer): readonly string[] {
  const { envelopes, rest } = opened(answer.body);
  const messages = envelopes.filter(({ flags }) => (flags & trailerFlag) === 0);
  const flaws = flawsOfMessages(output, messages, answer);
  if (answer.cut) return flaws;
  const last = envelopes.at(-1);
  if (!last || (last.flags & trailerFlag) === 0 || messages.length !== envelopes.length - 1) return [...flaws, "the trailers are not last"];
  return [...flawsOfRest(rest), ...flaws, ...flawsOfStatus(fieldsIn(last.bytes), messages.length, streaming)];
}

const flawsOfRest = (rest: Buffer): string[] => (rest.length === 0 ? [] : ["the answer breaks off in an envelope"]);

function flawsOfMessages(output: DescMessage, envelopes: readonly Envelope[], { status, headers }: FuzzAnswer): readonly string[] {
  const flaws = status === 200 ? [] : [`the HTTP status ${status}`];
  const isJson = headers["content-type"]?.endsWith("+json") ?? false;
  for (const { flags, bytes } of envelopes)
    flaws.push(...flawsOfMessage(output, flags & 1 ? decoded(bytes, headers["grpc-encoding"]) : bytes, isJson));
  return flaws;
}

function flawsOfStatus(trailers: Readonly<Record<string, string>>, messages: number, streaming: boolean): string[] {
  const { "grpc-status": text = "", "grpc-message": message = "" } = trailers;
  if (!/^\d+$/.test(text) || Number(text) > highest) return [`the grpc-status is ${text === "" ? "missing" : text}`];
  if (faults.has(Number(text))) return [`the grpc-status is ${text}`];
  const flaws = Number(text) !== 0 && message === "" ? [`the grpc-status ${text} without a message`] : [];
  if (!isPercentEncoded(message)) flaws.push("the grpc-message is not percent-encoded");
  if (!streaming && messages !== (Number(text) === 0 ? 1 : 0)) flaws.push(`${messages} messages with the grpc-status ${text}`);
  return flaws;
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
