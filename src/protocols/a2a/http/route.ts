import { toJsonString } from "@bufbuild/protobuf";
import type { FastifyInstance } from "fastify";
import { Failure, notFound } from "../../../core/failure.ts";
import { AgentCardSchema } from "../../../gen/proto/lf/a2a/v1/a2a_pb.ts";
import { callHeaders, refusalHeaders, setHeaders } from "../../../http/answer-headers.ts";
import type { ReadRequest } from "../../../http/request.ts";
import { boundedBodies } from "../../../http/request-body.ts";
import type { ProtocolRoutes } from "../../../http/unrouted.ts";
import { type Call, hasBody, inSteps, sendJson, wire } from "../../../http/wire/wire.ts";
import type { Admission } from "../../../pipeline/admission.ts";
import type { Limits } from "../../../pipeline/limit.ts";
import { failureIn, RpcFailure } from "../problem.ts";
import { basePath, type ReadHeader, requestBytesMax } from "../protocol.ts";
import { createEntrance, type EntranceParts } from "./entrance.ts";
import { parseRequest } from "./raw-parts.ts";

/** The dependencies of the bindings over HTTP. */
export interface A2aParts extends EntranceParts {
  readonly readRequest: ReadRequest;
  readonly anonymous: Limits["anonymous"];
  readonly bodyLimit: number;
}

/** Seconds for which a card may be kept. */
const cardSeconds = 300;

/**
 * Serves A2A 1.0: JSON-RPC at `/a2a`, HTTP+JSON below it, and public cards (spec/api.md 8.107). The methods
 * are loaded with the first request.
 */
export function a2aRoutes(app: FastifyInstance, parts: A2aParts): ReturnType<ProtocolRoutes> {
  boundedBodies(app);
  const { readRequest, report, bodyLimit, clock, agents } = parts;
  const entrance = createEntrance(parts);
  const frame = wire({ name: "a2a", readHead: readRequest, failureIn, report, refuse });
  const steps = {
    admit: ({ head }: Call) => entrance.admit(head),
    bound: (call: Call) => boundOf(call, bodyLimit),
  };
  const decode = (_call: Call, body: Uint8Array) => parseRequest(body);

  const rpc = inSteps<Admission, ReturnType<typeof decode>>({
    ...steps,
    decode: readRpc,
    async encode(call, admission, body) {
      const { answerCall, rpcBinding } = await import("./handler.ts");
      const { rpcCall } = await import("./requests.ts");
      const { reply, gone, head } = call;
      setHeaders(reply, callHeaders(head.requestId));
      const binding = rpcBinding(idIn(body), head.requestId);
      try {
        const use = entrance.use(admission, headerOf(call), gone);
        await answerCall(rpcCall(body), use, { reply, binding, clock });
      } catch (thrown) {
        const failure = failureIn(thrown);
        report(failure, head.requestId);
        if (head.observed) head.observed.reason = failure.reason;
        const { status, body: text } = binding.error(failure);
        setHeaders(reply, refusalHeaders(failure));
        sendJson(reply, status, text);
      }
    },
  });
  const rest = inSteps<Admission, ReturnType<typeof decode>>({
    ...steps,
    decode,
    async encode(call, admission, body) {
      const { answerCall, restBinding } = await import("./handler.ts");
      const { restCall } = await import("./requests.ts");
      const { request, reply, gone, head } = call;
      setHeaders(reply, callHeaders(head.requestId));
      const use = entrance.use(admission, headerOf(call), gone);
      await answerCall(restCall(request.method, request.url, body), use, {
        reply,
        binding: restBinding(head.requestId),
        clock,
      });
    },
  });
  const card = async ({ head, request, reply }: Call): Promise<void> => {
    await parts.anonymous(head.address);
    const { agent } = request.params as { readonly agent?: string };
    const found = await agents.publicCard(agent);
    if (!found) throw notFound("agent card");
    setHeaders(reply, callHeaders(head.requestId));
    reply.header("Cache-Control", `public, max-age=${cardSeconds}`);
    sendJson(reply, 200, toJsonString(AgentCardSchema, found));
  };
  const text = (allowed: readonly string[]) => `the address accepts ${allowed.join(", ")}`;
  frame.route(app, basePath, { POST: rpc }, { text });
  frame.route(app, `${basePath}/*`, { GET: rest, POST: rest, DELETE: rest }, { text });
  for (const path of ["", `${basePath}/:agent`])
    frame.route(app, `${path}/.well-known/agent-card.json`, { GET: card }, { text });
  return [
    { address: basePath, methods: ["POST"], refuse: frame.refuse },
    { address: `${basePath}/`, methods: ["GET", "POST", "DELETE"], refuse: frame.refuse },
  ];
}

function boundOf(call: Call, bodyLimit: number) {
  if (!hasBody(call)) return null;
  const type = call.request.headers["content-type"];
  if (type !== undefined && !/^application\/(?:a2a\+)?json\s*(?:;|$)/i.test(type))
    throw new Failure(
      "unsupported_media_type",
      "Content-Type: must be application/json or application/a2a+json",
    );
  return { maxBytes: Math.min(requestBytesMax, bodyLimit), name: basePath };
}

function readRpc(_call: Call, body: Uint8Array): ReturnType<typeof parseRequest> {
  try {
    return parseRequest(body);
  } catch (thrown) {
    const failure = failureIn(thrown);
    throw failure.reason === "invalid_argument" ? new RpcFailure("PARSE_ERROR", failure.message) : failure;
  }
}

/** The id of a request that may be malformed. */
function idIn(body: unknown): string | number | null {
  const { id } = (typeof body === "object" && body !== null ? body : {}) as { readonly id?: unknown };
  return typeof id === "string" || typeof id === "number" ? id : null;
}

/** Reads a header. The query can have the version, for clients that set no headers (A2A 1.0, 3.6.1). */
const headerOf = ({ request }: Call): ReadHeader => {
  const query = request.query as { readonly [name in "A2A-Version" | "a2a-version"]?: string };
  return (name) => {
    const value =
      request.headers[name] ?? (name === "a2a-version" ? (query["A2A-Version"] ?? query[name]) : undefined);
    return value === undefined ? undefined : String(value);
  };
};

/** Answers a refusal of the entrance, and every one of HTTP+JSON. */
async function refuse({ request, reply, head: { requestId } }: Call, failure: Failure): Promise<void> {
  setHeaders(reply, [...refusalHeaders(failure), ...callHeaders(requestId)]);
  const { restBinding, rpcBinding } = await import("./handler.ts");
  const { status, body } = restBinding(requestId).error(failure);
  const isRpc = request.url.replace(/\?.*$/s, "") === basePath;
  sendJson(reply, status, isRpc ? rpcBinding(null, requestId).error(failure).body : body);
}
