import type { FuzzAnswer, FuzzRequest } from "../request.ts";
import { openEnvelopes } from "./envelopes.ts";

const [endFlag, trailerFlag] = [2, 0x80];

/**
 * Whether an answer says that a call was made, by the rules of its wire. A stream with a message was made.
 */
export function succeeded({ wire }: FuzzRequest, { status, headers, trailers, body }: FuzzAnswer): boolean {
  if (status !== 200) return false;
  const type = headers["content-type"] ?? "";
  if (wire === "a2a-rpc") return /"result":/.test(body.toString());
  if (wire === "mcp") return /"result":/.test(body.toString()) && !/"isError":true/.test(body.toString());
  if (wire === "ag-ui") return !/"type":"RUN_ERROR"/.test(body.toString());
  if (!/^application\/(?:grpc|connect\+)/.test(type)) return true;
  const { envelopes } = openEnvelopes(body);
  if (envelopes.some(({ flags }) => (flags & (type.includes("grpc") ? trailerFlag : endFlag)) === 0))
    return true;
  const end = Buffer.from(envelopes.at(-1)?.bytes ?? []).toString("latin1");
  if (type.includes("grpc"))
    return (trailers["grpc-status"] ?? headers["grpc-status"]) === "0" || /^grpc-status: ?0\r?$/m.test(end);
  return end !== "" && !/"error"/.test(end);
}
