import type { IncomingHttpHeaders, IncomingMessage, OutgoingHttpHeaders, ServerResponse } from "node:http";
import { Failure } from "../core/failure.ts";
import { type OperationTable, rpcName } from "../pipeline/operations.ts";

/**
 * Encodes `grpc-message` as gRPC requires: only `%` and characters outside printable
 * ASCII are percent-encoded. Connect encodes more, and clients that decode only what
 * gRPC requires would show `limit%3A must be …`.
 */
export function plainGrpcMessage(response: ServerResponse): void {
  const addTrailers = response.addTrailers.bind(response);
  response.addTrailers = (trailers: OutgoingHttpHeaders) => {
    const { "grpc-message": message } = trailers;
    addTrailers(
      typeof message === "string" ? { ...trailers, "grpc-message": decodePlain(message) } : trailers,
    );
  };
}

/**
 * Decodes printable ASCII. Blanks at the ends stay encoded: they would be lost, and the complete text with
 * them.
 */
const decodePlain = (encoded: string): string =>
  encoded
    .replace(/%([2-7][0-9A-F])/g, decodeByte)
    .replace(/^ +| +$/g, (blanks) => "%20".repeat(blanks.length));

const decodeByte = (encoded: string, hex: string): string =>
  hex === "25" || hex === "7F" ? encoded : String.fromCharCode(Number.parseInt(hex, 16));

/** Nearly 25 days: a longer timer fires at once. */
const longestMs = 2 ** 31 - 1;
const longestGrpc = "596H";
const hourMs = 3_600_000;
const unitMs: Readonly<Record<string, number>> = { H: hourMs, M: 60_000, S: 1_000, m: 1, u: 1e-3, n: 1e-6 };

/** Shortens a caller's deadline to the longest timer. Connect refuses a malformed one. */
export function boundDeadline(headers: IncomingHttpHeaders): void {
  const { "connect-timeout-ms": connect, "grpc-timeout": grpc } = headers;
  if (/^\d{1,10}$/.test(String(connect)) && Number(connect) > longestMs)
    headers["connect-timeout-ms"] = String(longestMs);
  const [, amount = "0", unit = "n"] = /^(\d{1,8})([HMSmun])$/.exec(String(grpc)) ?? [];
  if (Number(amount) * (unitMs[unit] ?? 0) > longestMs) headers["grpc-timeout"] = longestGrpc;
}

/**
 * Connect compresses every answer that a client accepts compressed. Answers with a secret, and answers to
 * pages with a cookie, are sent as they are (spec/api.md 8.89).
 *
 * @returns a function that removes what the client accepts from the head of such a request.
 */
export function compressionCheck({ all }: Pick<OperationTable, "all">): (request: IncomingMessage) => void {
  const confidential = new Set(
    all.flatMap(({ method, isConfidential }) => (isConfidential ? [`/${rpcName(method)}`] : [])),
  );
  return ({ url = "", headers }) => {
    if (headers.cookie === undefined && !confidential.has(url.split("?", 1)[0] ?? "")) return;
    for (const name of ["accept-encoding", "connect-accept-encoding", "grpc-accept-encoding"])
      delete headers[name];
  };
}

/** JSON may have a charset, as in connect-es. */
const json = "json(?:; ?charset=utf-?8)?";

/** The content types of messages on the RPC wires; the group captures `proto` in a binary unary call. */
export const rpcTypes = {
  unary: new RegExp(`^application/(?:${json}|(proto))$`, "i"),
  stream: new RegExp(`^application/connect\\+(?:${json}|proto)$`, "i"),
  grpc: new RegExp(`^application/grpc(?:-web(?:-text)?)?(?:\\+(?:${json}|proto))?$`, "i"),
};

const grpcNames = "application/grpc and application/grpc-web for gRPC";

/**
 * Checks the content type of calls to operations by their RPC paths. Connect answers an unknown type with 415
 * and no text.
 *
 * @returns a function that throws Failure `unsupported_media_type` with the types that the operation accepts.
 */
export function contentTypeCheck({ all }: Pick<OperationTable, "all">): (request: IncomingMessage) => void {
  const streams = new Map(all.map(({ method }) => [`/${rpcName(method)}`, method.methodKind !== "unary"]));
  return ({ method, url = "", headers }) => {
    const isStream = streams.get(url.split("?", 1)[0] ?? "");
    if (method !== "POST" || isStream === undefined) return;
    const type = headers["content-type"] ?? "";
    if (rpcTypes[isStream ? "stream" : "unary"].test(type) || rpcTypes.grpc.test(type)) return;
    const types = isStream
      ? "application/connect+json or application/connect+proto"
      : "application/json or application/proto";
    throw new Failure("unsupported_media_type", `Content-Type: must be ${types}; ${grpcNames}`);
  };
}
