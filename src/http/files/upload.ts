import type { IncomingHttpHeaders } from "node:http";
import type { FastifyInstance } from "fastify";
import type { Clock } from "../../core/clock.ts";
import { invalidArgument } from "../../core/failure.ts";
import type { FileLinks } from "../../core/files/links.ts";
import type { Digest } from "../../core/files/meter.ts";
import type { Incoming, Uploads } from "../../core/files/uploads.ts";
import { callHeaders, setHeaders } from "../answer-headers.ts";
import { drainRequest, requestBodyWhenRead } from "../connection.ts";
import { failureOfError } from "../failure.ts";
import { incomingBody } from "../incoming-body.ts";
import { type RefusalParts, refuseV2 } from "../v2/refusal.ts";
import { type Call, type Handle, wire } from "../wire/wire.ts";
import { checkLink, linkPath, wrongMethod } from "./link.ts";

/** The algorithms that are checked, by their names in headers (RFC 3230, RFC 9530); others are ignored. */
const algorithms: Readonly<Record<string, { algorithm: Digest["algorithm"]; bytes: number }>> = {
  md5: { algorithm: "md5", bytes: 16 },
  sha: { algorithm: "sha1", bytes: 20 },
  "sha-256": { algorithm: "sha256", bytes: 32 },
  "sha-512": { algorithm: "sha512", bytes: 64 },
};

/** Headers with digests of the bytes, and their readers, which return pairs of algorithm and base64. */
const readers: Readonly<
  Record<string, (text: string) => Iterable<readonly [algorithm: string, base64: string]>>
> = {
  "Content-MD5": (text) => [["md5", text.trim()]],
  Digest: (text) => members(text, /^([A-Za-z0-9-]+)=(\S+)$/, "Digest"),
  "Content-Digest": (text) => members(text, /^([a-z*][a-z0-9_.*-]*)=:([^:]*):(?:\s*;.*)?$/, "Content-Digest"),
};

/** The digests in a request's headers. @throws Failure `invalid_argument` for a malformed header. */
function digestsOf(headers: IncomingHttpHeaders): readonly Digest[] {
  return Object.entries(readers).flatMap(([header, read]) => {
    const text = headers[header.toLowerCase()];
    if (text === undefined) return [];
    return [...read(String(text))].flatMap(
      ([name, base64]) => digest(header, name.toLowerCase(), base64) ?? [],
    );
  });
}

function digest(header: string, name: string, base64: string): Digest | undefined {
  const known = algorithms[name];
  if (known === undefined) return undefined;
  const value = Buffer.from(base64, "base64");
  if (value.length !== known.bytes || value.toString("base64") !== base64)
    throw invalidArgument(header, `must be ${name} in base64`);
  return { algorithm: known.algorithm, value, header: header };
}

function members(text: string, form: RegExp, header: string): (readonly [string, string])[] {
  return text.split(",").map((member) => {
    const [, name, base64] = form.exec(member.trim()) ?? [];
    if (name === undefined || base64 === undefined) throw invalidArgument(header, "is not well-formed");
    return [name, base64] as const;
  });
}

declare module "fastify" {
  interface FastifyContextConfig {
    /** The route sends the 100 to waiting clients itself. */
    asksForBody?: boolean;
  }
}

export interface UploadRouteParts extends RefusalParts {
  readonly uploads: Uploads;
  readonly links: FileLinks;
  readonly clock: Clock;
}

/**
 * Serves `PUT {upload_url}`: the raw bytes, with any Content-Type or none, without a key
 * (spec/api.md 8.12, spec/decisions.md 37). It answers before Fastify selects a parser,
 * so that no body is held in memory.
 */
export function uploadRoute(app: FastifyInstance, parts: UploadRouteParts): void {
  const refuse = refuseV2(parts.errorPages);
  const uploads = wire({
    name: "files",
    readHead: parts.readRequest,
    failureIn: failureOfError,
    report: parts.report,
    async refuse(call, failure) {
      drainRequest(call.request.raw, call.reply.raw);
      await refuse(call, failure);
    },
  });
  async function receiveFile(call: Call): Promise<void> {
    const { fileId, expires } = checkLink("uploads", call.request, parts);
    const { requestId } = call.head;
    incomingBody(call.request.raw)?.allowUploadTime();
    const { id, status, bytes } = await parts.uploads.receive(fileId, Number(expires) * 1000, incoming(call));
    setHeaders(call.reply, callHeaders(requestId));
    call.reply.send({ ok: true, request_id: requestId, file: { id, status, bytes } });
  }
  const receive: Handle = async (call) => {
    const { request, reply } = call;
    const cancel = requestBodyWhenRead(request.raw, reply.raw);
    await receiveFile(call).catch((thrown: unknown) => {
      cancel();
      throw thrown;
    });
  };
  uploads.route(app, linkPath, { PUT: receive }, wrongMethod, { asksForBody: true });
}

function incoming({ request: { raw, headers }, gone }: Call): Incoming {
  const { "content-length": length } = headers;
  return {
    bytes: raw,
    length: length === undefined || !/^\d{1,15}$/.test(length) ? null : Number(length),
    digests: digestsOf(headers),
    // HTTP/2 ends a cut body like a complete one.
    isComplete: () => !raw.aborted,
    signal: gone,
  };
}
