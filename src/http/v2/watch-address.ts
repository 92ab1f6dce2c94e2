import { create } from "@bufbuild/protobuf";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { Failure, invalidArgument, notFound } from "../../core/failure.ts";
import type { WatchGrant, WatchLinks } from "../../core/tasks/watch-links.ts";
import { TaskService, WatchTaskRequestSchema } from "../../gen/proto/task/v2/task_service_pb.ts";
import { rpcName } from "../../pipeline/operations.ts";
import { type Handle, inSteps } from "../wire/wire.ts";
import { lastEventId } from "./event-stream.ts";
import { v2Wire } from "./refusal.ts";
import { streamAnswer, type V2Parts } from "./route.ts";
import { admitSigned, memberOf } from "./signed-address.ts";

export interface WatchAddressParts extends V2Parts {
  readonly watchLinks: WatchLinks;
}

/**
 * Serves `GET /watches?token=…`: the events of one task for `EventSource`, which cannot send headers. The
 * token names the credential that made it, which is checked like that of a call, now and while the stream is
 * open (spec/decisions.md 61).
 */
export function watchAddress(app: FastifyInstance, parts: WatchAddressParts): void {
  const v2 = v2Wire(parts);
  const operation = parts.operations.byRpc(rpcName(TaskService.method.watchTask));
  if (!operation) throw new Error("task.watch is not in the table of operations");
  app.setErrorHandler((thrown, request, reply) => v2.refuse(request, reply, thrown));

  /** @throws Failure `not_found` for a forged or expired token. */
  function grantOf({ query }: FastifyRequest): WatchGrant {
    const token = memberOf(query, "token");
    const grant = token === undefined ? null : parts.watchLinks.read(token, parts.clock.now());
    if (grant === null) throw notFound("address");
    return grant;
  }

  const serve: Handle = inSteps({
    async admit({ head, request, reply }) {
      // The address is a secret: no cache and no other site gets it. Pages of all origins may open it,
      // without cookies.
      reply.headers({
        "Cache-Control": "no-store",
        "Referrer-Policy": "no-referrer",
        "Access-Control-Allow-Origin": "*",
      });
      const { credential } = grantOf(request);
      return admitSigned(parts.admit, operation, head, credential);
    },
    bound: () => null,
    decode: ({ request }) =>
      create(WatchTaskRequestSchema, {
        taskId: grantOf(request).taskId,
        afterSeq: afterSeqOf(request),
        deltas: deltasOf(request),
      }),
    encode: streamAnswer(operation, parts),
  });
  v2.route(app, "/watches", { GET: serve, HEAD: serve }, { text: () => "this address accepts GET" });
}

/** The place to begin at; `Last-Event-ID` takes precedence. @throws Failure `invalid_argument` */
function afterSeqOf({ query }: FastifyRequest): number {
  const text = memberOf(query, "after_seq");
  try {
    return lastEventId(text) ?? 0;
  } catch (thrown) {
    throw thrown instanceof Failure
      ? invalidArgument("after_seq", "must be a whole number from 0 to 2147483647")
      : thrown;
  }
}

/** @throws Failure `invalid_argument` for a value that is neither `true` nor `false`. */
function deltasOf({ query }: FastifyRequest): boolean {
  const text = memberOf(query, "deltas") ?? "false";
  if (text !== "true" && text !== "false") throw invalidArgument("deltas", "must be true or false");
  return text === "true";
}
