import type { IncomingMessage } from "node:http";
import { parseContentType as connectType } from "@connectrpc/connect/protocol-connect";
import { parseContentType as grpcType } from "@connectrpc/connect/protocol-grpc";
import { parseContentType as grpcWebType } from "@connectrpc/connect/protocol-grpc-web";
import { Failure } from "../core/failure.ts";
import { type OperationTable, rpcName } from "../operations.ts";

const grpcTypes = "application/grpc and application/grpc-web for gRPC";

/**
 * Checks the content type of calls to operations by their RPC paths: Connect itself answers a type that it does not
 * read with 415 and no word.
 *
 * @returns what throws Failure `unsupported_media` with the types that the operation reads.
 */
export function contentTypeCheck({ all }: Pick<OperationTable, "all">): (request: IncomingMessage) => void {
  const streams = new Map(all.map(({ method }) => [`/${rpcName(method)}`, method.methodKind !== "unary"]));
  return ({ method, url = "", headers }) => {
    const isStream = streams.get(url.split("?", 1)[0] ?? "");
    if (method !== "POST" || isStream === undefined) return;
    const type = headers["content-type"] ?? null;
    if (connectType(type)?.stream === isStream || grpcType(type) || grpcWebType(type)) return;
    const plain = isStream ? "application/connect+json or application/connect+proto" : "application/json or application/proto";
    throw new Failure("unsupported_media", `Content-Type: must be ${plain}; ${grpcTypes}`);
  };
}
