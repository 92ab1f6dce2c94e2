/** The code in the wire forms: v2, v1, Connect and exports, then OAuth, then gRPC and gRPC-Web. */
const codes = [/"code":\s*"?(\w+)/, /"error":\s*"(\w+)"/, /grpc-status: ?(\d+)/i];

/**
 * An answer as text: the HTTP status, and the code of the wire,
 * for instance `413 invalid_argument`, `200 resource_exhausted` (a stream of Connect) or `200 8` (gRPC).
 */
export function answerText(status: number | string, body: string): string {
  const code = codes
    .map((pattern) => pattern.exec(body)?.[1])
    .find((found) => found !== undefined && found !== "0" && found !== "null");
  return code === undefined ? `${status}` : `${status} ${code}`;
}
