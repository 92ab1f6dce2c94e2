import { createHash } from "node:crypto";
import type { Admission } from "../pipeline/admission.ts";
import { compressAnswer } from "./compression.ts";
import { matchesEtag } from "./files/send-file.ts";
import type { Call } from "./wire/wire.ts";

export interface JsonAnswer {
  readonly text: string;
  /** The length of its first part, which differs in each answer, for instance the request id. */
  readonly varyingLength?: number;
}

/** The headers whose values select an answer: credentials and the content coding. */
const vary = "Accept-Encoding, Authorization, X-Service-API-Key, X-Manus-API-Key, X-API-Key, API_KEY";

/**
 * Sends the answer of an admitted call: compressed when the client asks for it (spec/api.md 8.89), and with
 * an ETag when it is a read by GET or HEAD (8.90). An answer that can hold a secret gets neither.
 */
export async function sendAnswer(
  call: Call,
  admission: Admission,
  { text, varyingLength = 0 }: JsonAnswer,
): Promise<void> {
  const { request, reply } = call;
  const { operation } = admission;
  reply.code(200).header("Content-Type", "application/json; charset=utf-8");
  if (operation.isConfidential) return void reply.send(text);
  addVary(call);
  if (!operation.isChange && isRead(call)) {
    const etag = etagOf(admission, text.slice(varyingLength));
    reply.header("ETag", `W/${etag}`).header("Cache-Control", "private, no-cache");
    if (matchesEtag(request.headers, etag)) return void reply.code(304).removeHeader("Content-Type").send();
  }
  const body = Buffer.from(text);
  const compressed = await compressAnswer(body, [request.headers["accept-encoding"] ?? []].flat().join(","));
  if (compressed) reply.header("Content-Encoding", compressed.coding);
  reply.send(compressed?.bytes ?? body);
}

const isRead = ({ request: { method } }: Call): boolean => method === "GET" || method === "HEAD";

/** Other origins that may read the answer are in the header already. */
function addVary({ reply }: Call): void {
  const before = reply.getHeader("Vary");
  reply.header("Vary", before === undefined ? vary : `${before}, ${vary}`);
}

/** The validator of an answer, for this operation and caller only: no other caller gets a 304 by it. */
function etagOf({ operation, caller: { accountId, spaceId, credential } }: Admission, text: string): string {
  const client = credential.kind === "token" ? credential.clientId : "";
  const key = JSON.stringify([operation.rpc, accountId, spaceId, credential.kind, client]);
  return `"${createHash("sha256").update(key).update("\n").update(text).digest("base64url").slice(0, 27)}"`;
}
