import type { FastifyInstance } from "fastify";
import { defined } from "../../../core/defined.ts";
import { type Failure, failureOf } from "../../../core/failure.ts";
import { callHeaders, refusalHeaders, setHeaders } from "../../../http/answer-headers.ts";
import { failureOfError, v2Answers } from "../../../http/failure.ts";
import type { ReadRequest } from "../../../http/request.ts";
import { boundedBodies } from "../../../http/request-body.ts";
import type { ProtocolRoutes } from "../../../http/unrouted.ts";
import { eventStream } from "../../../http/v2/event-stream.ts";
import { parseBody } from "../../../http/v2/parse.ts";
import { type Call, inSteps, sendJson, wire } from "../../../http/wire/wire.ts";
import type { Admission } from "../../../pipeline/admission.ts";
import type { CallerClient } from "../../shared/caller-client.ts";
import { entranceOf, type InProcessParts, inProcessClients } from "../../shared/in-process.ts";

export interface AgUiParts extends InProcessParts {
  readonly readRequest: ReadRequest;
  readonly bodyLimit: number;
  /** The URL below which each failure has its page. */
  readonly errorPages: string;
}

/** The largest request: a conversation, whose last message can have a file of 2 MiB in base64. */
const inputBytesMax = 4 * 1_048_576;

/**
 * Serves the Agent-User Interaction protocol at `/ag-ui` by server-sent events (spec/api.md 8.110). The
 * adapter is loaded at the first request, so that a process without clients has none of it in memory.
 */
export function agUiRoutes(app: FastifyInstance, parts: AgUiParts): ReturnType<ProtocolRoutes> {
  const { readRequest, report, bodyLimit } = parts;
  boundedBodies(app);
  const entrance = entranceOf(parts.operations, "ag-ui", "/ag-ui");
  const ownWire = wire({
    name: "ag-ui",
    readHead: readRequest,
    failureIn: failureOfError,
    report,
    refuse: refusalsOf(parts),
  });
  const post = inSteps<Admission, unknown>({
    admit: ({ head }) =>
      parts.admit(entrance, { ...head, credentials: { ...head.credentials, session: null } }),
    bound: () => ({ maxBytes: Math.min(inputBytesMax, bodyLimit), name: "/ag-ui" }),
    decode: (_call, body) => parseBody(body),
    async encode(call, { caller }, message) {
      const head = { ...call.head, credentials: { ...call.head.credentials, session: null } };
      await answer(call, parts, inProcessClients(parts, head, caller)(call.gone), message);
    },
  });
  ownWire.route(app, "/ag-ui", { POST: post }, { text: () => "/ag-ui accepts POST: every run is a request" });
  return [{ address: "/ag-ui", methods: ["POST"], refuse: ownWire.refuse }];
}

async function answer(
  { reply, head, gone }: Call,
  { clock, report }: AgUiParts,
  client: CallerClient,
  body: unknown,
): Promise<void> {
  const [{ run }, { readInput }] = await Promise.all([import("../run.ts"), import("../input.ts")]);
  const input = readInput(body);
  async function* frames(): AsyncGenerator<string> {
    try {
      for await (const event of run(client, input)) yield `data: ${JSON.stringify(event)}\n\n`;
    } catch (thrown) {
      if (gone.aborted) return;
      const failure = failureOf(thrown);
      report(failure, head.requestId);
      yield `data: ${JSON.stringify({ type: "RUN_ERROR", code: v2Answers[failure.reason].code, message: failure.message })}\n\n`;
    }
  }
  setHeaders(reply, callHeaders(head.requestId));
  reply.header("Content-Type", "text/event-stream; charset=utf-8").header("X-Accel-Buffering", "no");
  reply.send(eventStream(frames(), clock));
}

/** Answers a refusal before the run begins. */
const refusalsOf =
  ({ errorPages }: AgUiParts) =>
  async ({ reply, head: { requestId } }: Call, failure: Failure): Promise<void> => {
    setHeaders(reply, [...refusalHeaders(failure), ...callHeaders(requestId)]);
    const { reason, message, path } = failure;
    const { status, code } = v2Answers[reason];
    const error = { code, message, doc_url: `${errorPages}/${reason}`, ...defined({ field: path }) };
    sendJson(reply, status, JSON.stringify({ ok: false, request_id: requestId, error }));
  };
