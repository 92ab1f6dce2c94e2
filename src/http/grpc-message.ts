import type { OutgoingHttpHeaders, ServerResponse } from "node:http";

/**
 * Sends `grpc-message` as gRPC asks for it: only `%` and what is no printable ASCII is
 * percent-encoded. Connect encodes more, and clients that undo no more than that
 * would show people `limit%3A must be …`.
 */
export function plainGrpcMessage(response: ServerResponse): void {
  const addTrailers = response.addTrailers.bind(response);
  response.addTrailers = (trailers: OutgoingHttpHeaders) => {
    const { "grpc-message": message } = trailers;
    addTrailers(typeof message === "string" ? { ...trailers, "grpc-message": plain(message) } : trailers);
  };
}

/** A blank at either end would be lost on the way, and the whole text with it. */
const plain = (encoded: string): string =>
  encoded.replace(/%([2-7][0-9A-F])/g, decoded).replace(/^ +| +$/g, (blanks) => "%20".repeat(blanks.length));

const decoded = (whole: string, hex: string): string =>
  hex === "25" || hex === "7F" ? whole : String.fromCharCode(Number.parseInt(hex, 16));
