import { Readable } from "node:stream";
import type { ReadableStream } from "node:stream/web";
import type { FastifyInstance, FastifyReply } from "fastify";
import type { Cipher } from "../../../core/cipher.ts";
import { defined } from "../../../core/defined.ts";
import { Failure, invalidArgument } from "../../../core/failure.ts";
import { isObject, type JsonObject } from "../../../core/json.ts";
import { mcpResource } from "../../../core/oauth/resource.ts";
import { type SignedTokens, signedTokens } from "../../../core/signed-token.ts";
import { callHeaders, refusalHeaders, setHeaders } from "../../../http/answer-headers.ts";
import { failureOfError, v2Answers } from "../../../http/failure.ts";
import type { ReadRequest } from "../../../http/request.ts";
import { boundedBodies } from "../../../http/request-body.ts";
import type { ProtocolRoutes } from "../../../http/unrouted.ts";
import { parseBody } from "../../../http/v2/parse.ts";
import { type Call, inSteps, sendJson, wire } from "../../../http/wire/wire.ts";
import type { Admission } from "../../../pipeline/admission.ts";
import { entranceOf, type InProcessParts, inProcessClients } from "../../shared/in-process.ts";
import type { Resumed } from "../tools/tool.ts";
import { checkMcpCredential, mcpChallenge, mcpCredentials } from "./credential.ts";
import type { EntranceParts } from "./handler.ts";
import { createOriginCheck, type OriginRule } from "./origin.ts";

export interface McpParts extends InProcessParts, OriginRule {
  readonly readRequest: ReadRequest;
  readonly cipher: Pick<Cipher, "createMac">;
  readonly bodyLimit: number;
  readonly baseUrl: string;
  /** The URL below which each failure has its page. */
  readonly errorPages: string;
  readonly version: string;
}

/** The largest message: an upload of 1 MiB in base64 and its text. */
const messageBytesMax = 2 * 1_048_576;
/** How long a person can take to answer a form. */
const placeMs = 60 * 60 * 1000;

/**
 * Serves the Model Context Protocol at `/mcp` by streamable HTTP (spec/api.md 8.103). It is loaded at the
 * first request, so that a process without clients has none of it in memory.
 */
export function mcpRoutes(app: FastifyInstance, parts: McpParts): ReturnType<ProtocolRoutes> {
  const { readRequest, report, bodyLimit, baseUrl } = parts;
  boundedBodies(app);
  const checkOrigin = createOriginCheck(parts);
  const entrance = entranceOf(parts.operations, "mcp", "/mcp");
  const resource = mcpResource(baseUrl);
  const refuse = refusalsOf(parts);
  const tokens: Places = signedTokens(parts.cipher, "mcp place");
  const ownWire = wire({ name: "mcp", readHead: readRequest, failureIn: failureOfError, report, refuse });
  const post = inSteps<Admission, JsonObject>({
    async admit({ head, request }) {
      checkOrigin(request.raw);
      const admission = await parts.admit(entrance, headFor(resource, head));
      checkMcpCredential(admission.caller.credential, resource);
      return admission;
    },
    bound: () => ({ maxBytes: Math.min(messageBytesMax, bodyLimit), name: "/mcp" }),
    decode(_call, body) {
      const message = parseBody(body);
      if (Array.isArray(message))
        throw invalidArgument("", "the body must be one message: the protocol has no batches");
      if (!isObject(message)) throw invalidArgument("", "the body must be a message of JSON-RPC: an object");
      return message;
    },
    async encode(call, admission, message) {
      const { answerMcp, scopesNeeded } = await import("./handler.ts");
      const scopes = scopesNeeded(message, admission.caller);
      // The client can ask its user for the scope, and call again.
      if (scopes !== null) return refuse(call, lacking(scopes), scopes.slice(0, 1));
      const server = serverParts(parts, tokens, { ...call, head: headFor(resource, call.head) }, admission);
      const answer = await answerMcp(webRequest(call, baseUrl), message, server);
      setHeaders(call.reply, callHeaders(call.head.requestId));
      await send(call.reply, answer);
    },
  });
  ownWire.route(
    app,
    "/mcp",
    { POST: post },
    { text: () => "/mcp accepts POST: the server keeps no sessions" },
  );
  return [{ address: "/mcp", methods: ["POST"], refuse: ownWire.refuse }];
}

/** The head of a request with the credentials that count at an address. */
const headFor = (resource: string, head: Call["head"]): Call["head"] => ({
  ...head,
  credentials: mcpCredentials(head.credentials, resource),
});

/**
 * Answers a refusal before the message is read: the HTTP status, how to sign in (RFC 9728 5.1), and an error
 * of JSON-RPC without id.
 */
const refusalsOf =
  ({ baseUrl, errorPages }: McpParts) =>
  async (
    { reply, head: { requestId, credentials } }: Call,
    failure: Failure,
    scopes?: readonly string[],
  ): Promise<void> => {
    setHeaders(reply, [...refusalHeaders(failure), ...callHeaders(requestId)]);
    const challenge = mcpChallenge(failure, baseUrl, credentials.bearer !== null, scopes);
    if (challenge !== null) reply.header("www-authenticate", challenge);
    const { reason, message, path } = failure;
    const { status, code } = v2Answers[reason];
    const data = {
      code,
      request_id: requestId,
      doc_url: `${errorPages}/${reason}`,
      ...defined({ field: path }),
    };
    sendJson(
      reply,
      status,
      JSON.stringify({ jsonrpc: "2.0", id: null, error: { code: -32_000, message, data } }),
    );
  };

const lacking = (scopes: readonly string[]): Failure =>
  new Failure("insufficient_scope", `insufficient_scope: the tool needs one of [${scopes.join(", ")}]`);

/** The request in the form of the library, which reads its method and headers. */
function webRequest({ request, gone }: Call, baseUrl: string): Request {
  const headers = Object.entries(request.headers).flatMap(([name, value]) =>
    name.startsWith(":") || value === undefined ? [] : [[name, String(value)] as [string, string]],
  );
  return new Request(new URL(request.url, baseUrl), { method: "POST", headers, body: "{}", signal: gone });
}

/** Places of conversations. */
type Places = SignedTokens<
  readonly [taskId: string, seq: number, seen: number, credentialId: string, until: number]
>;

function serverParts(
  parts: McpParts,
  tokens: Places,
  { head, request, gone }: Call,
  { caller }: Admission,
): EntranceParts {
  const { clock, version } = parts;
  const { tools } = request.query as { readonly tools?: unknown };
  return {
    clientUntil: inProcessClients(parts, head, caller),
    selection: typeof tools === "string" ? tools : null,
    version,
    gone,
    sleep: clock.sleep,
    places: {
      seal: ({ taskId, seq, seen }) =>
        tokens.create([taskId, seq, seen, caller.credential.id, clock.now() + placeMs]),
      open(text): Resumed | null {
        const [taskId = "", seq = 0, seen = 0, credentialId, until = 0] = tokens.read(text) ?? [];
        return credentialId === caller.credential.id && clock.now() < until ? { taskId, seq, seen } : null;
      },
    },
  };
}

async function send(reply: FastifyReply, answer: Response): Promise<void> {
  // Node sets the first one, over HTTP/1.1 only; the second one is set for every call.
  for (const [name, value] of answer.headers)
    if (name !== "connection" && name !== "cache-control") reply.header(name, value);
  reply.code(answer.status);
  if (answer.body === null) reply.send();
  // Node's types distinguish its own streams from those of `fetch`.
  else reply.send(Readable.fromWeb(answer.body as ReadableStream));
}
