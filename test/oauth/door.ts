import { request as httpRequest } from "node:http";
import Fastify, { type FastifyReply, type FastifyRequest } from "fastify";
import { createIdentify, readCredentials } from "../../src/call/credential.ts";
import { type Clock, systemClock } from "../../src/core/clock.ts";
import { failureOf } from "../../src/core/failure.ts";
import { systemIds } from "../../src/core/ids.ts";
import { createAccessTokenReader } from "../../src/core/oauth/access-tokens.ts";
import { mcpResource } from "../../src/core/oauth/resource.ts";
import { signingKeys } from "../../src/core/oauth/signing-key.ts";
import { checkMcpCredential, mcpChallenge, mcpCredentials } from "../../src/mcp/http/credential.ts";
import { cipher } from "../support/cipher.ts";
import type { Service } from "../support/service.ts";

/** A server in front of a platform that has only an MCP address: it checks credentials and answers each call the same way. */
export interface Door extends AsyncDisposable {
  readonly url: string;
  /** A call of the MCP address. */
  call(headers: Readonly<Record<string, string>>): Promise<{ readonly status: number; readonly challenge: string | null }>;
}

interface DoorOptions {
  readonly port?: number;
  readonly clock?: Clock;
  readonly registration?: boolean;
}

const statuses: Readonly<Record<string, number>> = { unauthenticated: 401, permission_denied: 403, insufficient_scope: 403 };

/** Opens it. Requests to other addresses continue to the platform. @param issuer the platform's `BASE_URL` */
export async function door(
  service: Pick<Service, "store" | "url">,
  issuer: string,
  { port = 0, clock = systemClock, registration = true }: DoorOptions = {},
): Promise<Door> {
  const resource = mcpResource(issuer);
  const readToken = createAccessTokenReader(signingKeys({ store: service.store, cipher, clock, ids: systemIds }), issuer);
  const uses = { note: () => undefined };
  const identify = createIdentify(service.store, clock, readToken, { keys: uses, workers: uses }, { cliSignIn: true, registration });
  const app = Fastify();
  app.removeAllContentTypeParsers();
  app.addContentTypeParser("*", (_request, _payload, done) => done(null));

  app.post("/mcp", async (request, reply) => {
    const credentials = readCredentials((name) => request.headers[name]?.toString());
    try {
      const caller = await identify(mcpCredentials({ ...credentials, session: request.headers.cookie ?? null }, resource), request.ip);
      checkMcpCredential(caller.credential, resource);
      return await answerMcp(request, reply);
    } catch (thrown) {
      const failure = failureOf(thrown);
      const challenge = mcpChallenge(failure, issuer, credentials.bearer !== null);
      if (challenge !== null) reply.header("WWW-Authenticate", challenge);
      return reply.code(statuses[failure.reason] ?? 500).send({ error: failure.message });
    }
  });
  app.all("/*", (request, reply) => passOn(service.url, request, reply));
  const url = await app.listen({ port, host: "127.0.0.1" });
  return {
    url,
    async call(headers) {
      const answer = await fetch(`${url}/mcp`, { method: "POST", headers: { ...headers, "content-type": "application/json" }, body: "{}" });
      await answer.arrayBuffer();
      return { status: answer.status, challenge: answer.headers.get("www-authenticate") };
    },
    [Symbol.asyncDispose]: () => app.close(),
  };
}

/** The answers that a client of the protocol needs to connect. */
async function answerMcp({ raw }: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  const chunks: Buffer[] = [];
  for await (const chunk of raw) chunks.push(chunk);
  const { id, method, params } = JSON.parse(Buffer.concat(chunks).toString() || "{}");
  if (id === undefined) return reply.code(method === undefined ? 200 : 202).send();
  if (method !== "initialize") return reply.send({ jsonrpc: "2.0", id, error: { code: -32_601, message: "Method not found" } });
  const serverInfo = { name: "door", version: "1" };
  return reply.send({ jsonrpc: "2.0", id, result: { protocolVersion: params.protocolVersion, capabilities: {}, serverInfo } });
}

function passOn(target: string, { raw }: FastifyRequest, reply: FastifyReply): void {
  reply.hijack();
  const { method, headers } = raw;
  const onward = httpRequest(new URL(raw.url ?? "/", target), { method, headers }, (answer) => {
    reply.raw.writeHead(answer.statusCode ?? 502, answer.headers);
    answer.pipe(reply.raw);
  });
  onward.on("error", () => reply.raw.destroy());
  raw.pipe(onward);
}
